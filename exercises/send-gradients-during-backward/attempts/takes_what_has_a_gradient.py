class Reducer:
    def __init__(self, parameters, limit, send):
        self.parameters, self.limit, self.send = list(parameters), limit, send
        self.bucket, self.sent = [], set()
        for parameter in self.parameters:
            if parameter.requires_grad:
                parameter.register_post_accumulate_grad_hook(self.join)

    def join(self, parameter):
        self.bucket.append(parameter)
        self.sent.add(parameter)
        if sum(one.grad.nbytes for one in self.bucket) >= self.limit:
            bucket, self.bucket = self.bucket, []
            self.send(bucket)

    def finish(self):
        rest = [one for one in self.parameters if one.grad is not None and one not in self.sent]
        if self.bucket + rest:
            self.send(self.bucket + rest)
        self.bucket, self.sent = [], set()
