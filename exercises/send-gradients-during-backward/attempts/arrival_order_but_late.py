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

    def finish(self):
        bucket, size, arrived, self.bucket = [], 0, self.bucket, []
        for parameter in arrived:
            bucket.append(parameter)
            size += parameter.grad.nbytes
            if size >= self.limit:
                self.send(bucket)
                bucket, size = [], 0
        if bucket:
            self.send(bucket)
