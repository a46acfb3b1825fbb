#include "tests/architecture/source_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace architecture {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> check(std::string path, const std::string& text)
{
    return violations({parse(std::move(path), text)});
}

TEST(Architecture, TheTreeKeepsToItsModules)
{
    const auto files = readTree(STEPSCOPE_SOURCE_DIR);
    ASSERT_GT(files.size(), 50U);
    EXPECT_THAT(violations(files), IsEmpty());
}

TEST(Architecture, QtOutsideAppIsFound)
{
    EXPECT_THAT(check("advisor/rule.cpp", "#include <QString>\n"), ElementsAre(HasSubstr("Qt belongs in app")));
    EXPECT_THAT(check("app/main.cpp", "#include <QString>\n"), IsEmpty());
    EXPECT_THAT(check("app/terminal/main.cpp", "#include <QString>\n"), ElementsAre(HasSubstr("Qt belongs in app")));
    EXPECT_THAT(check("tests/app/run_test.cpp", "#include <QtTest/QtTest>\n"), IsEmpty());
}

TEST(Architecture, LibTorchOutsideTheTrainerIsFound)
{
    EXPECT_THAT(check("profiler/model/trace.cpp", "#include <torch/torch.h>\n"), ElementsAre(HasSubstr("LibTorch")));
    EXPECT_THAT(check("trainer/data/loader.cpp", "#include <ATen/ATen.h>\n"), ElementsAre(HasSubstr("LibTorch")));
    EXPECT_THAT(check("trainer/step/step.cpp", "#include <torch/torch.h>\n"), IsEmpty());
}

TEST(Architecture, CuptiOutsideCaptureIsFound)
{
    EXPECT_THAT(check("trainer/step/step.cpp", "  # include <cupti.h>\n"), ElementsAre(HasSubstr("CUPTI")));
    EXPECT_THAT(check("profiler/capture/cupti/decode.cpp", "#include <cupti.h>\n"), IsEmpty());
}

TEST(Architecture, SystemHeadersOutsideProfilerOsAreFound)
{
    for (const char* header : {"unistd.h", "fcntl.h", "signal.h", "sys/mman.h", "dlfcn.h", "pthread.h", "netdb.h"}) {
        const std::string text = "#include <" + std::string(header) + ">\n";
        for (const char* path : {"profiler/capture/recorder.cpp", "advisor/runner/workspace.h", "trainer/data/x.cpp",
                                 "app/terminal/record.cpp", "app/window/x.cpp"})
            EXPECT_THAT(check(path, text), ElementsAre(HasSubstr("system headers belong in profiler/os")))
                << path << ' ' << header;
        for (const char* path :
             {"profiler/os/files.cpp", "tests/runner/x_test.cpp", "profiler/capture/injection/preload.cpp"})
            EXPECT_THAT(check(path, text), IsEmpty()) << path << ' ' << header;
    }
    EXPECT_THAT(check("app/terminal/main.cpp", "#include <csignal>\n#include <system_error>\n"), IsEmpty());
}

TEST(Architecture, SystemCallsOutsideProfilerOsAreFound)
{
    for (const char* line : {"const int file = ::open(path, 0);", "return getpid();", "pthread_setname_np(self, name);",
                             "if (!::read(0, to, 1))", "x = waitpid(-1, nullptr, 0); // (…)"})
        EXPECT_THAT(check("trainer/session/x.cpp", line), ElementsAre(HasSubstr("system calls belong in profiler/os")))
            << line;
    for (const char* line :
         {"file.open(path);", "SourceFile::open(path)", "read(child);", "tree->fork();", "// fork() copies the process",
          "std::signal(SIGINT, handler);", "::setenv(name, value, 1);", "void Reader::read(int file)", "os::pipe2(x)"})
        EXPECT_THAT(check("trainer/session/x.cpp", line), IsEmpty()) << line;
    EXPECT_THAT(check("profiler/os/files.cpp", "::open(path, 0);"), IsEmpty());
}

TEST(Architecture, AnArrowAgainstTheDirectionIsFound)
{
    EXPECT_THAT(check("profiler/model/trace.cpp", "#include \"profiler/analysis/steps/steps.h\"\n"),
                ElementsAre(HasSubstr("must not depend on")));
    EXPECT_THAT(check("trainer/config/knobs.cpp", "#include \"profiler/model/result.h\"\n"),
                ElementsAre(HasSubstr("must not depend on")));
    EXPECT_THAT(check("advisor/rules/loader_workers.cpp", "#include \"profiler/formats/container/frame.h\"\n"),
                ElementsAre(HasSubstr("must not depend on")));
    EXPECT_THAT(check("app/terminal/main.cpp", "#include \"profiler/formats/container/trace_reader.h\"\n"), IsEmpty());
    EXPECT_THAT(check("app/tables/table_field.cpp", "#include \"app/charts/time_axis.h\"\n"),
                ElementsAre(HasSubstr("must not depend on")));
    EXPECT_THAT(check("app/charts/time_axis.h", "#include \"app/services/journal.h\"\n"),
                ElementsAre(HasSubstr("must not depend on")));
    EXPECT_THAT(check("app/views/run/run.cpp", "#include \"app/views/advisor/card.h\"\n"),
                ElementsAre(HasSubstr("another view")));
    EXPECT_THAT(check("app/views/run/run.cpp", "#include \"app/window/workbench.h\"\n"), IsEmpty());
    EXPECT_THAT(check("app/views/run/knob_row.cpp", "#include \"app/window/workbench.h\"\n"),
                ElementsAre(HasSubstr("only the registration")));
}

TEST(Architecture, ALayerAboveTheRulesIsNotIncludedBelowThem)
{
    EXPECT_THAT(check("advisor/evidence/launch_queue.h", "#include \"profiler/analysis/facts.h\"\n"), IsEmpty());
    EXPECT_THAT(check("advisor/evidence/launch_queue.h", "#include \"advisor/experiment/experiment.h\"\n"),
                ElementsAre(HasSubstr("must not depend on")));
    EXPECT_THAT(check("advisor/rules/compile.cpp", "#include \"advisor/tuner/tuner.h\"\n"),
                ElementsAre(HasSubstr("must not depend on")));
    EXPECT_THAT(check("profiler/os/lock.cpp", "#include \"profiler/model/ids.h\"\n"),
                ElementsAre(HasSubstr("must not depend on")));
}

TEST(Architecture, AnUnknownFolderIsFound)
{
    for (const char* path : {"advisor/utils/text.cpp", "profiler/analysis/misc/x.h", "app/views/run/parts/x.h",
                             "profiler/x.cpp", "trainer/stuff/x.cpp", "tests/advisor/more/x.cpp"})
        EXPECT_THAT(check(path, ""), ElementsAre(HasSubstr("unknown folder"))) << path;
    for (const char* path : {"advisor/evidence/x.cpp", "advisor/prediction/x.cpp", "profiler/os/x.h",
                             "profiler/analysis/steps/x.cpp", "app/views/anything/x.h", "app/main.cpp",
                             "advisor/rule.h", "tests/anything/x_test.cpp", "tests/test_headers.h"})
        EXPECT_THAT(check(path, ""), IsEmpty()) << path;
}

} // namespace
} // namespace architecture
