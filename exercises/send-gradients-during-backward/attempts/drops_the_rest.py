class Reducer:
    def __init__(self, parameters, limit, send):
        self.limit, self.send = limit, send
        self.bucket, self.size = [], 0
        for parameter in parameters:
            if parameter.requires_grad:
                parameter.register_post_accumulate_grad_hook(self.add)

    def add(self, parameter):
        self.bucket.append(parameter)
        self.size += parameter.grad.nbytes
        if self.size >= self.limit:
            self.flush()

    def finish(self):
        self.bucket, self.size = [], 0

    def flush(self):
        if self.bucket:
            bucket, self.bucket, self.size = self.bucket, [], 0
            self.send(bucket)
