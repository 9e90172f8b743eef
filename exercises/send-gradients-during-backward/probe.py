"""Runs a case's backward passes, and writes down when each gradient is ready and when a bucket is sent.

A plan is the forward pass: names of parameters in the order of their use, or two names for two branches that are
added.
"""

import torch

WATCH = torch.Tensor.register_post_accumulate_grad_hook  # before the learner's file can replace it

LENGTH = 320  # of each text of events; `diagnose` sees only texts of equal length
FOREIGN = "?"  # stands for what is not a parameter of the model


class Model:
    """The parameters of one model, and the events of its passes."""

    def __init__(self, case, prefix, reducer):
        dtype = torch.float32 if case["single"] else torch.float64
        self.parameters, self.others, self.events = {}, {}, []
        for name, _ in case[f"{prefix}parameters"]:
            start = torch.from_numpy(case[f"{prefix}start {name}"]).to(dtype)
            self.parameters[name] = start.requires_grad_(name not in case["frozen"])
            self.others[name] = torch.from_numpy(case[f"{prefix}other {name}"]).to(dtype)
        self.inputs = torch.from_numpy(case[f"{prefix}x"]).to(dtype)
        for name, parameter in self.parameters.items():
            if parameter.requires_grad:
                WATCH(parameter, lambda _, name=name: self.events.append(f"ready {name}"))
        self.zeros = case["zeros"]
        self.reducer = reducer(list(self.parameters.values()), case["limit"], self.send)

    def send(self, bucket):
        """What stands for the exchange: the mean with the gradient of another rank."""
        if not isinstance(bucket, (list, tuple)):
            raise TypeError(f"send should be called with a list; it was called with a {type(bucket).__name__}")
        names = [self.find_name(parameter) for parameter in bucket]
        self.events.append(f"send [{', '.join(names)}]")
        for name in names:
            gradient = None if name == FOREIGN else self.parameters[name].grad
            if gradient is not None:
                with torch.no_grad():
                    gradient.add_(self.others[name]).div_(2)

    def find_name(self, parameter):
        for name, own in self.parameters.items():
            if own is parameter:
                return name
        return FOREIGN

    def run(self, plan):
        for parameter in self.parameters.values():
            parameter.grad = torch.zeros_like(parameter) if self.zeros else None
        hidden = self.inputs
        for step in plan:
            names = step if isinstance(step, list) else [step]
            hidden = sum(self.apply(name, hidden) for name in names)
        hidden.square().sum().backward()

    def apply(self, name, hidden):
        weight = self.parameters[name]
        return torch.tanh(hidden @ weight if weight.dim() > 1 else hidden * weight)

    def read_gradients(self):
        """All gradients in one vector, with zeros where there is none."""
        found = [torch.zeros_like(p) if p.grad is None else p.grad for p in self.parameters.values()]
        return torch.cat([gradient.detach().double().flatten() for gradient in found])


def probe(submission, case):
    prefixes = ["", "second "] if "second parameters" in case else [""]
    models = {prefix: Model(case, prefix, submission.Reducer) for prefix in prefixes}
    answer = {}
    for number in range(len(case["plans"])):
        for prefix, model in models.items():
            if plan := case[f"{prefix}plans"][number]:
                model.run(plan)
        for prefix, model in models.items():
            model.events.append("finish")
            model.reducer.finish()
            answer[f"{prefix}pass {number + 1}"] = "; ".join(model.events)[:LENGTH].ljust(LENGTH)
            answer[f"{prefix}gradients {number + 1}"] = model.read_gradients()
            model.events.clear()
    return answer
