class Reducer:
    def __init__(self, parameters, limit, send):
        self.limit, self.send, self.plan = limit, send, None
        self.bucket, self.size, self.ready, self.sent, self.record = [], 0, [], 0, []
        for parameter in parameters:
            if parameter.requires_grad:
                parameter.register_post_accumulate_grad_hook(self.arrive)

    def arrive(self, parameter):
        if self.plan is None:
            self.bucket.append(parameter)
            self.size += parameter.grad.nbytes
            if self.size >= self.limit:
                self.flush()
            return
        self.ready.append(parameter)
        while self.sent < self.full and all(any(one is other for other in self.ready) for one in self.plan[self.sent]):
            self.send(self.plan[self.sent])
            self.sent += 1

    def flush(self):
        if self.bucket:
            self.send(self.bucket)
            self.record.append(self.bucket)
        self.bucket, self.size = [], 0

    def finish(self):
        if self.plan is None:
            rest = bool(self.bucket)
            self.flush()
            self.plan = self.record or None
            self.full = len(self.record) - rest
        else:
            for bucket in self.plan[self.sent :]:
                if left := [one for one in bucket if any(one is other for other in self.ready)]:
                    self.send(left)
        self.ready, self.sent = [], 0
