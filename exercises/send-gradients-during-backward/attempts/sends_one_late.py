class Reducer:
    def __init__(self, parameters, limit, send):
        self.limit, self.send = limit, send
        self.bucket, self.size = [], 0
        for parameter in parameters:
            if parameter.requires_grad:
                parameter.register_post_accumulate_grad_hook(self.add)

    def add(self, parameter):
        if self.size >= self.limit:
            self.finish()
        self.bucket.append(parameter)
        self.size += parameter.grad.nbytes

    def finish(self):
        if self.bucket:
            bucket, self.bucket, self.size = self.bucket, [], 0
            self.send(bucket)
