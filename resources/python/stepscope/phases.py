"""The phases that no single PyTorch function delimits: forward, loss, validation, generation.

- *forward*: a call of an outermost trained module, in training mode with gradients recorded.
- *loss*: from the end of such a call to the start of the backward pass, without zero_grad.
- *validation*: calls in evaluation mode, until training continues; or a whole loop over a loader in which modules were
  called without a backward pass. A model that is trained in evaluation mode (frozen batch norms) is recognized by its
  backward pass.
- *generation*: calls in training mode without gradients, between steps, as when a program prints samples of its text
  now and then. Where most steps are followed by such calls, they are part of the step.
"""


class Phases:
    def __init__(self, session):
        self._session = session
        self.listeners = []  # called with the start and the end of each completed validation
        self._reset()

    def restart(self):
        self._reset()

    def _reset(self):
        # State of the current training step.
        self._loss_since = None
        self._losses = []  # pieces of the loss phase, kept until a backward pass shows that there is a loss
        self._backwards = 0  # since the last optimizer step
        # State of the current validation.
        self._since = None
        self._end = None
        self._forwards = 0
        self._grad = False
        self._entry = None  # the object that stands for the place from which a model is evaluated
        self._model = None
        self._pending = None  # (module, whether gradients are recorded) of the last call in evaluation mode
        # State of the current generation, and the number of steps that were followed by one.
        self._generation = None  # [start, end]
        self._generations = 0
        self._generated_after = None  # the step before the last one
        # State of the last loader that was asked for a batch.
        self._loader = None
        self._loader_entry = None
        self._loader_since = None
        self._loader_forwards = 0
        self._loader_trained = False
        self._copy = None  # (model, whether gradients are recorded, place) of the last call of a copy of a model in it
        self._trains_in_eval = set()  # ids of modules
        self._forward = None  # the object of the place that called a model last
        self._validations = {}  # objects of validations in training mode, by that of the call
        self.accumulation = {}  # backward passes per optimizer step → number of occurrences

    # ---- loaders ----

    def batch_requested(self, now, number, entry):
        if number != self._loader:
            self._loop_ended(now)
            self._loader, self._loader_entry, self._loader_since = number, entry, now
            self._loader_forwards, self._loader_trained, self._copy = 0, False, None
        if entry is not None:
            entry.count += 1

    def loader_ended(self, now, number):
        if number == self._loader:
            self._loop_ended(now)
            self._loader = None

    def _loop_ended(self, now):
        """A loop over a loader has ended or was left."""
        if self._loader is None or self._loader_trained or not self._loader_forwards:
            return
        if self._loader_entry is not None and self._loader_entry.role is None:
            self._loader_entry.role = "validation"
        if self._since is None:  # in training mode, without a backward pass
            self._since, self._end = self._loader_since, now
            self._forwards = self._loader_forwards
            if self._copy is not None:
                self._model, self._grad, self._entry = self._copy
            else:
                self._entry = self._validation_in_training_mode()
        self._since = min(self._since, self._loader_since)
        self._end = now
        self._finish()

    def _validation_in_training_mode(self):
        """The object of a validation that could not be recognized from the calls of the model."""
        facts, forward = self._session.facts, self._forward
        if forward is None:
            return None
        if forward not in self._validations:
            entry = facts.add("validation", forward.name, forward.call)
            if entry is not None:
                entry.fields["mode"] = "train"
            self._validations[forward] = entry
        return self._validations[forward]

    def copy_called(self, model, grad, place):
        """A copy of a trained model is called. In a loop over a loader without training it runs a validation, like an
        average of the weights; within a training step it is a teacher or a target."""
        self._loader_forwards += 1
        self._copy = (model, grad, place)

    # ---- forward ----

    def is_training(self, module, grad):
        """Whether a call of an outermost trained module is a forward pass of training."""
        return grad and (module.training or id(module) in self._trains_in_eval)

    def forward_began(self, now):
        self._finish()
        self._close_loss(now)
        self._session.steps.training_began(now)

    def forward_ended(self, now, model, grad, place):
        self._loss_since = now
        self._forward = place
        self._loader_forwards += 1
        if self._loader_forwards == 1 or self._model is None:
            self._model, self._grad = model, grad

    def evaluation_began(self, now, module, model, grad, place):
        """A call in evaluation mode, or without gradients. Returns whether it belongs to a validation."""
        self._loader_forwards += 1
        self._model = model
        if module.training:
            # Within a step, like the samples of a generator for its discriminator; it is a validation if its loop never
            # trains.
            self._grad = grad
            return self._since is None and self._generates(now)
        if self._since is None:
            self._finish_generation()
            self._since = now
            self._grad = False
            self._forwards = 0
            self._session.steps.outside_began(now)
        self._grad = self._grad or grad
        self._forwards += 1
        self._entry = place
        if place is not None:
            place.count -= 1  # counted once per validation
        self._pending = (module, grad)
        return True

    def _generates(self, now):
        """Whether a call in training mode without gradients belongs to no step."""
        steps = self._session.steps
        if self._generation is not None:
            return True
        if not steps.is_between():
            return False
        if self._generated_after != steps.count:
            self._generated_after = steps.count
            self._generations += 1
        if 3 * self._generations >= 2 * steps.count:
            return False
        self._generation = [now, now]
        steps.outside_began(now)
        return True

    def evaluation_ended(self, now):
        if self._since is None and self._generation is not None:
            self._generation[1] = now
        else:
            self._end = now
        self._session.steps.outside_ended(now)

    def _finish_generation(self):
        if self._generation is not None:
            self._session.complete("phase", "generation", *self._generation)
            self._generation = None

    # ---- loss and backward ----

    def zero_grad_began(self, now):
        if self._loss_since is not None:
            self._close_loss(now)
            self._loss_since = -1  # continues after the gradients are zeroed

    def zero_grad_ended(self, now):
        if self._loss_since == -1:
            self._loss_since = now

    def _close_loss(self, now):
        if self._loss_since is not None and self._loss_since >= 0 and len(self._losses) < 64:
            self._losses.append((self._loss_since, now))
        self._loss_since = None

    def backward_began(self, now):
        if self._since is not None and self._grad and self._forwards <= 1:
            # One call in evaluation mode with gradients, then backward: the model is trained in this mode.
            self._trains_in_eval.add(id(self._pending[0]))
            self._since = None
        self._finish()
        self._close_loss(now)
        for begin, end in self._losses:
            self._session.complete("phase", "loss", begin, end)
        self._losses = []
        self._backwards += 1
        self._loader_trained = True
        self._session.steps.training_began(now)

    def optimizer_stepped(self, now):
        self._finish()
        self._losses = []
        self._loss_since = None
        self._loader_trained = True

    def has_backwards(self):
        """Whether there was a backward pass since the last optimizer step."""
        return self._backwards > 0

    def count_backwards(self, entry):
        """Backward passes since the last optimizer step, for an optimizer that has stepped; None: the program has no
        backward pass."""
        if self._backwards and (len(self.accumulation) < 32 or self._backwards in self.accumulation):
            self.accumulation[self._backwards] = self.accumulation.get(self._backwards, 0) + 1
            if entry is not None:
                entry.fields["backward_passes"] = max(self.accumulation, key=self.accumulation.get)
        self._backwards = 0

    # ---- validation ----

    def _finish(self):
        """Writes the current validation or generation, which has ended."""
        self._finish_generation()
        if self._since is None or self._end is None:
            self._since = None
            return
        since, end = self._since, self._end
        if self._loader is not None and not self._loader_trained and self._loader_since < since:
            since = self._loader_since
        self._session.complete("phase", "validation", since, end)
        self._note(end - since)
        for listener in self.listeners:
            listener(since, end)
        self._since = self._end = None
        self._losses = []
        self._loss_since = None

    def _note(self, duration):
        entry = self._entry
        if entry is None:
            return
        entry.count += 1
        entry.fields["grad"] = entry.fields.get("grad", False) or self._grad
        entry.fields["forwards"] = entry.fields.get("forwards", 0) + self._forwards
        entry.fields["time_us"] = round(entry.fields.get("time_us", 0) + duration / 1000, 1)
        if self._model is not None:
            entry.fields["model"] = self._model.id
        self._session.facts.changed = self._session.facts.changed or entry.count == 1

    def epoch_began(self):
        """Ends a validation without a loader, which otherwise ends when training continues."""
        self._finish()

    def program_ended(self, now):
        self._loop_ended(now)
        self._finish()

    def forked(self):
        self._reset()
        self.listeners = []
