class Reducer:
    def __init__(self, parameters, limit, send):
        self.limit, self.send = limit, send
        self.bucket, self.size = [], 0
        for parameter in parameters:
            if parameter.requires_grad:
                parameter.register_hook(lambda gradient, parameter=parameter: self.add(parameter, gradient))

    def add(self, parameter, gradient):
        self.bucket.append(parameter)
        self.size += gradient.nbytes
        if self.size >= self.limit:
            self.finish()

    def finish(self):
        if self.bucket:
            bucket, self.bucket, self.size = self.bucket, [], 0
            self.send(bucket)
