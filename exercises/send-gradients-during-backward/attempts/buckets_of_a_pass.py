import weakref


class Reducer:
    def __init__(self, parameters, limit, send):
        self.limit, self.send = limit, send
        self.start()
        me = weakref.ref(self)
        for parameter in parameters:
            if parameter.is_leaf and parameter.requires_grad:
                parameter.register_post_accumulate_grad_hook(lambda one: me().arrive(one))

    def start(self):
        self.buckets, self.sizes, self.sent = [[]], [0], 0

    def arrive(self, parameter):
        self.buckets[-1].append(parameter)
        self.sizes[-1] += parameter.numel() * parameter.dtype.itemsize
        if self.sizes[-1] >= self.limit:
            self.buckets.append([])
            self.sizes.append(0)
            self.hand_over(len(self.buckets) - 1)

    def hand_over(self, until):
        for bucket in self.buckets[self.sent : until]:
            if bucket:
                self.send(list(bucket))
        self.sent = until

    def finish(self):
        self.hand_over(len(self.buckets))
        self.start()
