#pragma once

#include "profiler/model/message.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

/// What this machine offers for recording and measuring programs, and which command adds what is missing: printed by
/// `stepscope-cli doctor`, from which the app's start page takes it.
namespace advisor::runner {

struct MachineCheck {
    enum class State {
        Works,
        Limited, ///< Stepscope works, without the part that `what` names
        Missing  ///< nothing can be recorded
    };
    std::string
        id; ///< subject: "program", "trainer", "gpu", "gpu_counters", "torch", "private_views", "disk", "display"
    State state = State::Works;
    profiler::Message what;
    std::string fix; ///< command that makes the part work, or what to do if no command does; may be empty
};

/// "works", "limited", "missing".
std::string_view stateName(MachineCheck::State state);

struct MachineCheckOptions {
    std::filesystem::path folder;     ///< where recordings will be written
    std::filesystem::path root = "/"; ///< of the kernel's and the system's files: "proc/driver/nvidia/params"
};

/// Checks the installation, GPU, PyTorch, private views, disk and display. "torch" has one entry for each Python
/// interpreter: VIRTUAL_ENV, CONDA_PREFIX, and the first python3 and python in PATH. Starts nvidia-smi and these
/// interpreters, without importing PyTorch. Blocks, usually for less than a second and at most for half a minute.
std::vector<MachineCheck> checkMachine(const MachineCheckOptions& options);

} // namespace advisor::runner
