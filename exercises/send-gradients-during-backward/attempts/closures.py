class Reducer:
    def __init__(self, parameters, limit, send):
        waiting = []

        def flush():
            if waiting:
                bucket = waiting.copy()
                waiting.clear()
                send(bucket)

        def arrive(parameter):
            waiting.append(parameter)
            if sum(one.grad.numel() * one.grad.element_size() for one in waiting) >= limit:
                flush()

        for parameter in parameters:
            if parameter.requires_grad:
                parameter.register_post_accumulate_grad_hook(arrive)
        self.finish = flush
