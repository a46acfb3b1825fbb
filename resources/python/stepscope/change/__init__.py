"""From the facts of a recorded program and a list of changes to new texts of the user's files.

Run as a program of its own (`python3 -I -S change/__main__.py`): it reads a request from standard input and writes the
answer to standard output, both JSON. It imports nothing but the standard library, reads only the files that the facts
name, and writes none.

    source      a file: bytes, encoding, line ends, syntax tree, positions
    edits       the primitive edits, each defined twice: on the text and on the syntax tree, which check each other
    code        questions about a file's syntax tree: the call at a site, its statement, its scope
    arguments   sets an argument of a call, wherever its value is written
    loops       autocast, gradient scaling and no_grad around statements
    models      what is done to a model after its construction, and inside its class
    command     changes of the command line
    configuration  edits of a configuration file, and config_values: where the values of such a file are written
    table       one row per change: what it sets, whether a hook can do it as well
    plan        puts the rows to work and makes the answer
"""
