#include "advisor/runner/launch_check.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace advisor::runner {
namespace {

namespace fs = std::filesystem;
using Field = LaunchProblem::Field;
using testing::ElementsAre;
using testing::IsEmpty;

class LaunchCheck : public testing::Test {
protected:
    LaunchCheck()
    {
        std::string name = (fs::temp_directory_path() / "stepscope-launch-XXXXXX").string();
        folder = mkdtemp(name.data());
        write("train.py", 0644);
        write("run.sh", 0644);
        write("tool", 0755);
        fs::create_directory(folder / "package");
    }
    ~LaunchCheck() override { fs::remove_all(folder); }
    void write(const char* name, mode_t mode) const
    {
        std::ofstream(folder / name) << "x";
        chmod((folder / name).c_str(), mode);
    }
    /// "field id" of each problem.
    [[nodiscard]] std::vector<std::string> check(std::vector<std::string> words,
                                                 std::vector<std::string> environment = {}) const
    {
        return check(Launch{std::move(words), folder, std::move(environment)});
    }
    [[nodiscard]] static std::vector<std::string> check(const Launch& launch)
    {
        std::vector<std::string> found;
        for (const LaunchProblem& problem : checkLaunch(launch)) {
            constexpr const char* kFields[] = {"command", "folder", "environment"};
            found.push_back(std::string(kFields[static_cast<int>(problem.field)]) + " " + problem.what.id);
            EXPECT_FALSE(problem.what.text.empty());
            EXPECT_FALSE(problem.hint.empty());
        }
        return found;
    }
    fs::path folder;
};

TEST_F(LaunchCheck, ARunnableCommandHasNoProblem)
{
    EXPECT_THAT(check({"sh", "run.sh"}), IsEmpty());
    EXPECT_THAT(check({"./tool"}), IsEmpty());
    EXPECT_THAT(check({"env", "A=1", "PYTHONPATH=.", "sh", "run.sh"}), IsEmpty());
    EXPECT_THAT(check({"sh", "-c", "no-script.sh"}), IsEmpty());
    EXPECT_THAT(check({"sh", "-e", "run.sh", "no-script.sh"}), IsEmpty());
    EXPECT_THAT(check({"true"}, {"OMP_NUM_THREADS=4", "EMPTY=", "_X1=a=b"}), IsEmpty());
}

TEST_F(LaunchCheck, AProgramMustExistAndBeExecutable)
{
    EXPECT_THAT(check({"no-such-command-here"}), ElementsAre("command launch.command.not_found"));
    EXPECT_THAT(check({"./no-tool"}), ElementsAre("command launch.command.not_found"));
    EXPECT_THAT(check({"./train.py"}), ElementsAre("command launch.command.permission"));
    EXPECT_THAT(check({"./package"}), ElementsAre("command launch.command.folder"));
    EXPECT_THAT(check(std::vector<std::string>{}), ElementsAre("command launch.command.missing"));
    EXPECT_THAT(check({"env", "A=1", "no-such-command-here"}), ElementsAre("command launch.command.not_found"));
}

TEST_F(LaunchCheck, PathOfTheEnvironmentCounts)
{
    EXPECT_THAT(check({"tool"}), ElementsAre("command launch.command.not_found"));
    EXPECT_THAT(check({"tool"}, {"PATH=/nowhere:" + folder.string()}), IsEmpty());
    EXPECT_THAT(check({"sh", "run.sh"}, {"PATH=/nowhere"}), ElementsAre("command launch.command.not_found"));
}

TEST_F(LaunchCheck, AnInterpretersScriptMustExist)
{
    write("python3.12", 0755);
    EXPECT_THAT(check({"./python3.12", "-u", "-W", "ignore", "train.py", "--lr", "1"}), IsEmpty());
    EXPECT_THAT(check({"./python3.12", "-u", "-W", "ignore", "trian.py"}),
                ElementsAre("command launch.script.missing"));
    EXPECT_THAT(check({"./python3.12", "-m", "trian"}), IsEmpty()) << "a module is found by Python";
    EXPECT_THAT(check({"./python3.12", "-c", "pass"}), IsEmpty());
    EXPECT_THAT(check({"./python3.12", "-"}), IsEmpty());
    EXPECT_THAT(check({"./python3.12", "package"}), ElementsAre("command launch.script.folder"));
    std::ofstream(folder / "package/__main__.py") << "";
    EXPECT_THAT(check({"./python3.12", "package"}), IsEmpty());
    EXPECT_THAT(check({"env", "A=1", "sh", "no-script.sh"}), ElementsAre("command launch.script.missing"));
    if (geteuid() != 0) { // root can read everything
        write("secret.sh", 0);
        EXPECT_THAT(check({"sh", "secret.sh"}), ElementsAre("command launch.script.permission"));
    }
}

TEST_F(LaunchCheck, ALaunchersScriptMustExist)
{
    for (const char* program : {"torchrun", "accelerate", "uv", "python3"})
        write(program, 0755);
    EXPECT_THAT(check({"./torchrun", "--nproc-per-node", "2", "--standalone", "train.py", "--lr", "1"}), IsEmpty());
    EXPECT_THAT(check({"./torchrun", "--nproc-per-node", "2", "trian.py"}),
                ElementsAre("command launch.script.missing"));
    EXPECT_THAT(check({"./torchrun", "-m", "package.train"}), IsEmpty()) << "a module is found by Python";
    EXPECT_THAT(check({"./accelerate", "launch", "--num_processes=2", "trian.py"}),
                ElementsAre("command launch.script.missing"));
    EXPECT_THAT(check({"./accelerate", "config"}), IsEmpty());
    EXPECT_THAT(check({"./uv", "run", "trian.py"}), ElementsAre("command launch.script.missing"));
    EXPECT_THAT(check({"./uv", "run", "--with", "torch", "train.py"}), IsEmpty());
    EXPECT_THAT(check({"./python3", "-m", "torch.distributed.run", "--nproc-per-node=2", "trian.py"}),
                ElementsAre("command launch.script.missing"));
}

TEST_F(LaunchCheck, TheFolderMustBeAFolder)
{
    EXPECT_THAT(check(Launch{{"true"}, folder / "none", {}}), ElementsAre("folder launch.folder.missing"));
    EXPECT_THAT(check(Launch{{"true"}, folder / "tool", {}}), ElementsAre("folder launch.folder.file"));
    EXPECT_THAT(check(Launch{{"./tool"}, folder / "none", {}}), ElementsAre("folder launch.folder.missing"))
        << "the folder is wrong, not the command";
}

TEST_F(LaunchCheck, EntriesOfTheEnvironmentMustBeAssignments)
{
    EXPECT_THAT(check({"true"}, {"THREADS"}), ElementsAre("environment launch.environment.form"));
    EXPECT_THAT(check({"true"}, {"=4"}), ElementsAre("environment launch.environment.form"));
    EXPECT_THAT(check({"true"}, {"4X=1"}), ElementsAre("environment launch.environment.name"));
    EXPECT_THAT(check({"true"}, {"MY VAR=1"}), ElementsAre("environment launch.environment.name"));
    EXPECT_THAT(check({"true"}, {"A=1", "B=1", "A=2"}), ElementsAre("environment launch.environment.twice"));
    EXPECT_THAT(check({"true"}, {"STEPSCOPE_RECORD=x"}), ElementsAre("environment launch.environment.reserved"));
    EXPECT_THAT(check({"no-such-command-here"}, {"A"}), ElementsAre("environment launch.environment.form"));
}

TEST(ProgramName, IsTheScriptOrTheModule)
{
    EXPECT_EQ(programName({"python", "train.py", "--epochs", "3"}), "train.py");
    EXPECT_EQ(programName({"env", "A=1", "/usr/bin/python3.11", "-u", "/home/me/train.py"}), "train.py");
    EXPECT_EQ(programName({"python", "-m", "pkg.train", "--config", "a.py"}), "pkg.train");
    EXPECT_EQ(programName({"torchrun", "--nproc-per-node", "2", "src/train.py"}), "train.py");
    EXPECT_EQ(programName({"torchrun", "--nproc-per-node", "2", "-m", "pkg.train"}), "pkg.train");
    EXPECT_EQ(programName({"python", "-m", "torch.distributed.run", "train.py"}), "train.py");
    EXPECT_EQ(programName({"python", "-m", "torch.distributed.run", "-m", "pkg.train"}), "pkg.train");
    EXPECT_EQ(programName({"bash", "run.sh"}), "run.sh");
}

TEST(ProgramName, IsOtherwiseTheCommandItself)
{
    EXPECT_EQ(programName({"./bin/train-model", "-m", "x"}), "train-model");
    EXPECT_EQ(programName({"python", "-c", "import torch", "-m", "x"}), "python");
    EXPECT_EQ(programName({"python", ""}), "");
    EXPECT_EQ(programName({"python"}), "python");
    EXPECT_EQ(programName({}), "");
}

} // namespace
} // namespace advisor::runner
