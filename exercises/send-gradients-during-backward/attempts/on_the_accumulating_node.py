from functools import partial


class Reducer:
    def __init__(self, parameters, limit, send):
        self.limit, self.send, self.current = limit, send, []
        self.nodes = []  # a node lives only as long as something refers to it
        for parameter in parameters:
            if parameter.requires_grad:
                node = parameter.expand_as(parameter).grad_fn.next_functions[0][0]
                node.register_hook(partial(self.arrive, parameter))
                self.nodes.append(node)

    def arrive(self, parameter, *gradients):
        self.current.append(parameter)
        if sum(one.nbytes for one in self.current) >= self.limit:
            self.finish()

    def finish(self):
        full, self.current = self.current, []
        if full:
            self.send(full)
