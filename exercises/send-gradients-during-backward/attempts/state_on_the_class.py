class Reducer:
    bucket, size = [], 0

    def __init__(self, parameters, limit, send):
        self.limit, self.send = limit, send
        for parameter in parameters:
            if parameter.requires_grad:
                parameter.register_post_accumulate_grad_hook(self.add)

    def add(self, parameter):
        self.bucket.append(parameter)
        Reducer.size += parameter.grad.nbytes
        if self.size >= self.limit:
            self.finish()

    def finish(self):
        if self.bucket:
            bucket, Reducer.size = list(self.bucket), 0
            self.bucket.clear()
            self.send(bucket)
