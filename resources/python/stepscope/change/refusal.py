"""The reason why a change is not made."""


class Refusal(Exception):
    """An expected failure: its message and id go into the answer."""

    def __init__(self, identifier, text):
        super().__init__(text)
        self.id = "change." + identifier
        self.text = text

    def message(self):
        return {"id": self.id, "text": self.text}
