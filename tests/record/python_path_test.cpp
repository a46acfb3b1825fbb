#include "tests/record/recorded_run.h"

#include <gmock/gmock.h>

// Whether the hooks reach an interpreter, however the command starts it. Any Python works: none of this needs torch.
namespace record_test {

using testing::HasSubstr;
using testing::IsEmpty;

namespace {

const std::string kPython = PYTHON;

/// A program that marks a range if the hooks are present, and prints which entries of PYTHONPATH are its own.
std::filesystem::path program(const Folder& folder)
{
    return folder.write("program.py", "import os, sys\n"
                                      "print('path', ':'.join(p for p in os.environ.get('PYTHONPATH', '').split(':')\n"
                                      "                       if 'stepscope' not in p))\n"
                                      "try:\n"
                                      "    import stepscope\n"
                                      "except ImportError:\n"
                                      "    print('no hooks')\n"
                                      "else:\n"
                                      "    with stepscope.range(sys.argv[1]):\n"
                                      "        pass\n");
}

std::vector<std::string> ranges(const Folder& folder)
{
    return names(*trace(folder), profiler::ActivityKind::UserAnnotation);
}

} // namespace

TEST(RecordPythonPath, ACommandThatSetsPythonpathKeepsTheHooks)
{
    const Folder folder;
    const std::string script = program(folder).string();
    for (const std::string& command : std::vector<std::string>{
             kPython + " " + script + " plain", "env PYTHONPATH=. " + kPython + " " + script + " env",
             "env -u PYTHONPATH " + kPython + " " + script + " unset"}) {
        const Ended ended = record(folder, command);
        EXPECT_EQ(ended.status, 0) << command << ": " << ended.err;
        EXPECT_THAT(ranges(folder), testing::SizeIs(1)) << command << ": " << ended.out;
    }
    const Ended ended = record(folder, kPython + " " + script + " option", "--env PYTHONPATH=/some/folder");
    EXPECT_THAT(ended.out, HasSubstr("path /some/folder"));
    EXPECT_THAT(ranges(folder), testing::ElementsAre("option"));
}

TEST(RecordPythonPath, AWrapperScriptThatSetsPythonpathKeepsTheHooks)
{
    const Folder folder;
    const std::string script = program(folder).string();
    const auto wrapper =
        folder.write("run.sh", "export PYTHONPATH=/first\n" + kPython + " " + script +
                                   " first\nPYTHONPATH=/second exec " + kPython + " " + script + " second\n");
    const Ended ended = record(folder, "sh " + wrapper.string());
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("path /first"));
    EXPECT_THAT(ended.out, HasSubstr("path /second"));
    EXPECT_THAT(ranges(folder), testing::UnorderedElementsAre("first", "second"));
}

TEST(RecordPythonPath, AChildWithAnotherPythonpathKeepsTheHooks)
{
    const Folder folder;
    const std::string script = program(folder).string();
    const auto parent =
        folder.write("parent.py", "import os, subprocess, sys\n"
                                  "subprocess.run([sys.executable, '" +
                                      script +
                                      "', 'child'], check=True,\n"
                                      "               env={**os.environ, 'PYTHONPATH': '/of/the/child'})\n"
                                      "subprocess.run([sys.executable, '" +
                                      script + "', 'inherits'], check=True)\n");
    const Ended ended = record(folder, kPython + " " + parent.string());
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("path /of/the/child"));
    EXPECT_THAT(ranges(folder), testing::UnorderedElementsAre("child", "inherits"));
}

TEST(RecordPythonPath, AnInterpreterThatIgnoresItIsReported)
{
    for (const char* option : {"-I", "-E", "-S", "-uI"}) {
        const Folder folder;
        const std::string script = program(folder).string();
        const std::string letter(1, std::string(option).back());
        // A second Python, which is recorded: the trace contains the note as well.
        const Ended ended = record(folder, "sh -c '" + kPython + " " + option + " " + script + " lost; " + kPython +
                                               " " + script + " kept'");
        EXPECT_EQ(ended.status, 0) << ended.err;
        EXPECT_THAT(ended.out, HasSubstr("no hooks"));
        EXPECT_THAT(ended.err, HasSubstr("Python was started with -" + letter)) << option;
        EXPECT_THAT(ranges(folder), testing::ElementsAre("kept"));
        EXPECT_THAT(summary(folder)["data_loss"]["notes"].dump(), HasSubstr("Python was started with -" + letter));
        EXPECT_THAT(folder.files(), testing::ElementsAre("program.py", "t.sstrace"));
    }
    const Folder folder;
    const Ended alone = record(folder, kPython + " -I -c pass");
    EXPECT_EQ(alone.status, 1);
    EXPECT_THAT(alone.err, HasSubstr("nothing was recorded: Python was started with -I"));
    // An option of the program is not an option of the interpreter.
    const Ended after = record(folder, kPython + " " + program(folder).string() + " -I");
    EXPECT_EQ(after.status, 0);
    EXPECT_THAT(after.err, testing::Not(HasSubstr("started with")));
}

TEST(RecordPythonPath, WithoutHooksPythonpathIsUnchanged)
{
    const Folder folder;
    const Ended ended =
        record(folder, "env PYTHONPATH=. " + kPython + " " + program(folder).string() + " x", "--no-python");
    EXPECT_THAT(ended.out, HasSubstr("path .\nno hooks"));
}

} // namespace record_test
