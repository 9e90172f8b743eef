class Reducer:
    def __init__(self, parameters, limit, send):
        self.parameters, self.limit, self.send = parameters, limit, send

    def finish(self):
        bucket, size = [], 0
        for parameter in self.parameters[::-1]:
            if parameter.grad is None:
                continue
            bucket.append(parameter)
            size += parameter.grad.nbytes
            if size >= self.limit:
                self.send(bucket)
                bucket, size = [], 0
        if bucket:
            self.send(bucket)
