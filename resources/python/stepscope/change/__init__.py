"""Creates new texts of the user's files from the facts of a recorded program and a list of changes.

Run as a separate program (`python3 -I -S change/__main__.py`): it reads a request from standard input and writes the
answer to standard output, both in JSON. It imports nothing but the standard library, reads only the files that the
facts name, and writes no files.

    source      a file: bytes, encoding, line ends, syntax tree, positions
    edits       the primitive edits, implemented twice, on the text and on the syntax tree, to check each other
    code        queries on a file's syntax tree: the call at a site, its statement, its scope
    arguments   sets an argument of a call, wherever its value is written
    loops       autocast, gradient scaling and no_grad around statements
    models      changes to a model after its construction and inside its class
    command     changes of the command line
    config_values  finds the values in a configuration file
    table       one row per change: what it sets, and whether a hook can make it
    plan        applies the rows and creates the answer
"""
