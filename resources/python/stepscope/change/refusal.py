"""Why a change is not made."""


class Refusal(Exception):
    """Expected: the message goes into the answer, with its id."""

    def __init__(self, identifier, text):
        super().__init__(text)
        self.id = "change." + identifier
        self.text = text

    def message(self):
        return {"id": self.id, "text": self.text}
