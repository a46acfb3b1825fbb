"""Programs of others, as their authors published them: their commands, and the data that they read."""
import data


def set_option(words, option, value):
    """The command with another value of an option; an option that ends in "=" is one word with its value."""
    words = list(words)
    if option.endswith("="):
        return [option + value if word.startswith(option) else word for word in words]
    if option in words:
        words[words.index(option) + 1] = value
        return words
    return [*words, option, value]


class Program:
    """A command, and what is expected of its recording."""

    def __init__(self, place, words, make=None, change="loader.workers=2", variables=None,
                 seconds=0, longer=("--epochs", "100")):
        """longer: an option and its value with which the program runs long enough for an experiment."""
        self.place, self.words, self.make, self.change = place, words, make, change
        self.longer = longer
        self.variables = variables or {}
        self.seconds = seconds  # after which the command is interrupted; 0: it ends by itself

    def command(self, python, scratch, is_long=False):
        """The words to run. A long command is not interrupted: an experiment stops its programs itself."""
        words = [word.replace("{scratch}", scratch) for word in self.words]
        if is_long:
            words = set_option(words, *self.longer)
        limit = ["timeout", "-s", "INT", str(self.seconds)] if self.seconds and not is_long else []
        return [*limit, python, *words]


# Small sizes: the programs are to run through on two cores in a minute.
OTHERS = {
    "mnist": Program("examples/mnist", ["main.py", "--epochs", "1"], data.mnist),
    "imagenet": Program("examples/imagenet", ["main.py", "--dummy", "-a", "resnet18", "-b", "4", "-j", "0", "--epochs", "1"],
                        seconds=60),
    "vae": Program("examples/vae", ["main.py", "--epochs", "1"], data.mnist),
    "dcgan": Program("examples/dcgan", ["main.py", "--dataset", "fake", "--niter", "1", "--batchSize", "16", "--ngf", "8",
                                        "--ndf", "8", "--workers", "0", "--outf", "{scratch}"], longer=("--niter", "100")),
    "super_resolution": Program("examples/super_resolution", ["main.py", "--upscale_factor", "2", "--batchSize", "4",
                                                              "--testBatchSize", "4", "--nEpochs", "1", "--threads", "0"],
                                data.super_resolution, longer=("--nEpochs", "100")),
    "word_language_model": Program("examples/word_language_model", ["main.py", "--data", "./data/small", "--epochs", "1",
                                                                    "--emsize", "32", "--nhid", "32"],
                                   data.language_model, change="precision.amp=bf16"),
    "nanogpt": Program("nanoGPT", ["train.py", "--dataset=small", "--device=cpu", "--compile=False", "--eval_iters=2",
                                   "--eval_interval=30", "--max_iters=60", "--block_size=32", "--batch_size=4",
                                   "--n_layer=2", "--n_head=2", "--n_embd=32", "--gradient_accumulation_steps=2",
                                   "--warmup_iters=10", "--out_dir={scratch}"],
                       data.characters, change="optimizer.implementation=fused", longer=("--max_iters=", "100000")),
    "mingpt": Program("minGPT", ["projects/adder/adder.py", "--trainer.max_iters=80", "--trainer.num_workers=0",
                                 "--system.work_dir=\"{scratch}\""], variables={"PYTHONPATH": "."}, longer=("--trainer.max_iters=", "100000")),
    "makemore": Program("makemore", ["makemore.py", "-i", "names.txt", "-o", "{scratch}", "--max-steps", "120",
                                     "--n-layer", "2", "--n-embd", "16"], change="loader.workers=1",
                        longer=("--max-steps", "100000")),
    "timm_train": Program("pytorch-image-models", ["train.py", "--data-dir", "../stepscope-data/pictures", "--train-split",
                                                   "train", "--val-split", "validation", "--model", "resnet10t",
                                                   "--epochs", "1", "-b", "8", "--workers", "1", "--img-size", "32",
                                                   "--num-classes", "4", "--device", "cpu", "--output", "{scratch}"],
                          data.image_folders),
}
