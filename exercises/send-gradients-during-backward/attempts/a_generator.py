def fill(limit, send):
    while True:
        bucket, left = [], limit
        while (parameter := (yield)) is not None:
            bucket.append(parameter)
            left -= parameter.grad.untyped_storage().nbytes()
            if left <= 0:
                send(bucket)
                bucket, left = [], limit
        if bucket:
            send(bucket)


class Reducer:
    def __init__(self, parameters, limit, send):
        self.filling = fill(limit, send)
        next(self.filling)
        for parameter in filter(lambda one: one.requires_grad, parameters):
            parameter.register_post_accumulate_grad_hook(self.put)

    def put(self, parameter):
        self.filling.send(parameter)

    def finish(self):
        self.filling.send(None)
