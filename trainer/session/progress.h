#pragma once

#include "profiler/model/result.h"
#include "trainer/config/protocol.h"
#include "trainer/config/training_config.h"

#include <chrono>
#include <memory>
#include <string>

namespace trainer {

/// A notice about `what`: its text, its id and its parameters.
config::protocol::Notice notice(config::protocol::Notice::Severity severity, const profiler::Message& what,
                                std::string where = {}, std::string hint = {}, std::int64_t count = 1);
/// An error of a configuration, with key, value and what is allowed as parameters.
profiler::Message messageOf(const config::ConfigError& error);

/// Receives the progress of a run. Single-threaded.
class Progress {
public:
    virtual ~Progress() = default;
    virtual void report(const config::protocol::Progress& record) = 0;

    void inform(const profiler::Message& what, std::string where = {}, std::string hint = {}, std::int64_t count = 1);
    void warn(const profiler::Message& what, std::string where = {}, std::string hint = {}, std::int64_t count = 1);
    void fail(const profiler::Message& what, std::string where = {}, std::string hint = {});
};

/// Writes protocol lines to a descriptor. A slow reader never blocks the training: step records are then dropped, and
/// other records wait at most one second. Makes the descriptor non-blocking.
std::unique_ptr<Progress> progressToDescriptor(int descriptor);
/// Writes sentences to stderr; steps at most once per second.
std::unique_ptr<Progress> progressToTerminal();

/// A notice as a sentence: "out of space (/data/x): choose another folder".
std::string sentence(const config::protocol::Notice& notice);

} // namespace trainer
