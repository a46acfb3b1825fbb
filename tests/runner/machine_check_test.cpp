#include "advisor/runner/machine_check.h"

#include "tests/support/temporary_folder.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

/// checkMachine() with programs and kernel files of other machines.
namespace {

namespace fs = std::filesystem;
using advisor::runner::checkMachine;
using advisor::runner::MachineCheck;
using State = MachineCheck::State;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class Doctor : public testing::Test {
protected:
    Doctor()
    {
        fs::create_directories(m_folder.path() / "bin");
        fs::create_directories(root());
        ::setenv("PATH", (m_folder.path() / "bin").c_str(), 1);
        for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX", "DISPLAY", "WAYLAND_DISPLAY"})
            ::unsetenv(name);
    }
    [[nodiscard]] fs::path root() const { return m_folder.path() / "root"; }

    void kernelFile(const fs::path& name, const std::string& text) const
    {
        fs::create_directories((root() / name).parent_path());
        std::ofstream(root() / name) << text;
    }
    /// A program in PATH, or in a folder's bin, that prints `text`.
    void program(const fs::path& path, const std::string& text, int status = 0) const
    {
        const fs::path file = m_folder.path() / path;
        fs::create_directories(file.parent_path());
        std::ofstream(file) << "#!/bin/sh\n/bin/cat <<'END'\n" << text << "\nEND\nexit " << status << "\n";
        fs::permissions(file, fs::perms::owner_all);
    }
    [[nodiscard]] fs::path path(const fs::path& name) const { return m_folder.path() / name; }

    [[nodiscard]] std::vector<MachineCheck> checks(const std::string& id) const
    {
        auto all = checkMachine({.folder = m_folder.path(), .root = root()});
        std::erase_if(all, [&](const MachineCheck& check) { return check.id != id; });
        return all;
    }
    [[nodiscard]] MachineCheck check(const std::string& id) const
    {
        const auto found = checks(id);
        EXPECT_EQ(found.size(), 1U) << id;
        return found.empty() ? MachineCheck{} : found.front();
    }

private:
    test_support::TemporaryFolder m_folder;
};

TEST_F(Doctor, SaysWhetherTheMachineOrTheContainerLacksTheGpu)
{
    EXPECT_EQ(check("gpu").what.id, "doctor.gpu.none");
    EXPECT_THAT(check("gpu").fix, IsEmpty());
    kernelFile("sys/bus/pci/devices/0000:01:00.0/vendor", "0x10de\n");
    kernelFile("sys/bus/pci/devices/0000:01:00.0/class", "0x030200\n");
    EXPECT_EQ(check("gpu").what.id, "doctor.gpu.no_driver");
    EXPECT_THAT(check("gpu").fix, HasSubstr("nvidia-driver"));
    kernelFile(".dockerenv", "");
    EXPECT_EQ(check("gpu").what.id, "doctor.gpu.container");
    EXPECT_THAT(check("gpu").fix, HasSubstr("--gpus all"));
}

TEST_F(Doctor, ComparesTheDriverWithWhatRecordingAndTheTrainerNeed)
{
    const auto id = [&](const std::string& driver) {
        program("bin/nvidia-smi", "NVIDIA H200, " + driver + ", 9.0\nNVIDIA H200, " + driver + ", 9.0");
        return check("gpu").what.id;
    };
    EXPECT_EQ(id("524.99"), "doctor.gpu.driver_too_old");
    EXPECT_EQ(id("525.60.13"), "doctor.gpu.trainer_driver");
    EXPECT_EQ(id("580.65.06"), "doctor.gpu");
    const auto works = check("gpu");
    EXPECT_EQ(works.state, State::Works);
    EXPECT_EQ(works.what.find("gpu")->text, "NVIDIA H200");
    EXPECT_EQ(std::get<std::int64_t>(works.what.find("count")->value), 2);
    program("bin/nvidia-smi", "No devices were found", 6);
    EXPECT_EQ(check("gpu").what.id, "doctor.gpu.failed");
    EXPECT_EQ(check("gpu").what.find("why")->text, "No devices were found");
}

TEST_F(Doctor, SaysHowToGetThePermissionForCupti)
{
    program("bin/nvidia-smi", "NVIDIA H200, 580.65.06, 9.0");
    kernelFile("proc/driver/nvidia/params", "EnableMSI: 1\nRmProfilingAdminOnly: 1\n");
    kernelFile("proc/self/status", "Name:\ttest\nUid:\t1000\t1000\t1000\t1000\n");
    EXPECT_EQ(check("gpu_counters").state, State::Limited);
    EXPECT_THAT(check("gpu_counters").fix, HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"));
    kernelFile("proc/self/status", "Name:\ttest\nUid:\t0\t0\t0\t0\n");
    EXPECT_EQ(check("gpu_counters").state, State::Works);
    kernelFile("proc/self/status", "Name:\ttest\nUid:\t1000\t1000\t1000\t1000\n");
    kernelFile("proc/driver/nvidia/params", "RmProfilingAdminOnly: 0\n");
    EXPECT_EQ(check("gpu_counters").state, State::Works);
}

TEST_F(Doctor, FindsThePyTorchOfEachInterpreter)
{
    EXPECT_EQ(check("torch").what.id, "doctor.no_python");
    program("bin/python3", R"({"python": "3.11.2", "torch": "", "cupti": ""})");
    EXPECT_EQ(check("torch").state, State::Limited);
    EXPECT_EQ(check("torch").fix, path("bin/python3").string() + " -m pip install torch");

    program("venv/bin/python", R"({"python": "3.12.1", "torch": "2.4.0+cu121", "cupti": "libcupti.so.12"})");
    ::setenv("VIRTUAL_ENV", path("venv").c_str(), 1);
    const auto both = checks("torch");
    ASSERT_EQ(both.size(), 2U);
    EXPECT_EQ(both[0].what.id, "doctor.torch.profiler"); // there is no library for this version's operators
    EXPECT_EQ(both[0].what.find("torch")->text, "2.4.0+cu121");
    EXPECT_EQ(both[1].state, State::Works) << "one PyTorch is enough";
    EXPECT_THAT(both[1].fix, IsEmpty());
}

TEST_F(Doctor, NamesTheVersionsWhoseOperatorsStepscopeRecordsItself)
{
    const auto of = [&](const std::string& torch) {
        program("bin/python3", R"({"python": "3.11.2", "torch": ")" + torch + R"("})");
        return check("torch").what;
    };
    program("programs/bin/stepscope-cli", "");
    ::setenv("STEPSCOPE_PROGRAMS", path("programs/bin").c_str(), 1);
    EXPECT_EQ(of("2.9.1").find("fitting")->text, "no version");
    for (const char* name : {"libstepscope_inject.so", "stepscope_ops_torch_2.10.0.so", "stepscope_ops_torch_2.9.1.so",
                             "stepscope_ops_torch_2.9.0.so"})
        program(path("programs/lib/stepscope") / name, "");
    EXPECT_EQ(of("2.9.1+cu128").id, "doctor.torch");
    const auto other = of("2.9.2");
    ::unsetenv("STEPSCOPE_PROGRAMS");
    EXPECT_EQ(other.id, "doctor.torch.profiler");
    EXPECT_EQ(other.find("fitting")->text, "2.9.0, 2.9.1, 2.10.0");
}

TEST_F(Doctor, NamesVersionsThatWereNotTested)
{
    const auto id = [&](const std::string& python, const std::string& torch) {
        program("bin/python3", R"({"python": ")" + python + R"(", "torch": ")" + torch + R"("})");
        return check("torch").what.id;
    };
    EXPECT_EQ(id("3.11.2", "2.3.1"), "doctor.torch.too_old");
    EXPECT_EQ(check("torch").fix, path("bin/python3").string() + " -m pip install --upgrade torch");
    EXPECT_EQ(id("3.8.10", "2.4.0"), "doctor.torch.too_old");
    EXPECT_EQ(id("3.9.0", "2.4.0"), "doctor.torch.profiler");
    EXPECT_EQ(id("3.14.0", "2.15.1"), "doctor.torch.profiler");
    EXPECT_EQ(id("3.14.0", "2.16.0"), "doctor.torch.too_new");
    EXPECT_EQ(id("3.15.0", "2.15.0"), "doctor.torch.too_new");
}

TEST_F(Doctor, IgnoresInterpretersThatDoNotAnswer)
{
    program("bin/python3", "not JSON");
    program("bin/python", "{}", 1);
    EXPECT_EQ(check("torch").what.id, "doctor.no_python");
}

TEST_F(Doctor, FindsTheTrainerAndTheDisplay)
{
    EXPECT_EQ(check("display").what.id, "doctor.no_display");
    ::setenv("DISPLAY", ":7", 1);
    EXPECT_EQ(check("display").what.find("display")->text, ":7");
    ::setenv("STEPSCOPE_TRAINER", path("bin/stepscope-train").c_str(), 1);
    EXPECT_EQ(check("trainer").state, State::Limited);
    EXPECT_THAT(check("trainer").fix, Not(IsEmpty()));
    program("bin/stepscope-train", "");
    EXPECT_EQ(check("trainer").state, State::Works);
    ::unsetenv("STEPSCOPE_TRAINER");
}

TEST_F(Doctor, ReportsThatNothingCanBeRecorded)
{
    ::setenv("STEPSCOPE_PROGRAMS", path("bin").c_str(), 1);
    EXPECT_EQ(check("program").state, State::Missing);
    EXPECT_EQ(check("program").what.id, "record.incomplete");
    ::unsetenv("STEPSCOPE_PROGRAMS");
    const auto checks = checkMachine({.folder = path("no such folder"), .root = root()});
    const auto disk = std::find_if(checks.begin(), checks.end(), [](const auto& check) { return check.id == "disk"; });
    ASSERT_NE(disk, checks.end());
    EXPECT_EQ(disk->state, State::Missing);
}

} // namespace
