class Reducer:
    def __init__(self, parameters, limit, send):
        self.send, self.buckets = send, [[]]
        size = 0
        for parameter in parameters:
            if not parameter.requires_grad:
                continue
            self.buckets[-1].append(parameter)
            size += parameter.nbytes
            if size >= limit:
                self.buckets.append([])
                size = 0
            parameter.register_post_accumulate_grad_hook(self.arrive)
        self.ready, self.sent = set(), 0

    def arrive(self, parameter):
        self.ready.add(parameter)
        while self.sent < len(self.buckets) and self.buckets[self.sent] and self.ready.issuperset(self.buckets[self.sent]):
            self.send(self.buckets[self.sent])
            self.sent += 1

    def finish(self):
        for bucket in self.buckets[self.sent :]:
            if left := [parameter for parameter in bucket if parameter in self.ready]:
                self.send(left)
        self.ready, self.sent = set(), 0
