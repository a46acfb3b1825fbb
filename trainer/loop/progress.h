#pragma once

#include "profiler/model/result.h"
#include "trainer/config/protocol.h"
#include "trainer/config/training_config.h"

#include <chrono>
#include <memory>
#include <string>

namespace trainer {

/// A notice that says `what`: its text, its id and its parameters.
config::protocol::Notice notice(config::protocol::Notice::Severity severity, const profiler::Message& what,
                                std::string where = {}, std::string hint = {}, std::int64_t count = 1);
/// An error of a configuration, with key, value and what is allowed as parameters.
profiler::Message messageOf(const config::ConfigError& error);

/// Where a run reports to. One thread.
class Progress {
public:
    virtual ~Progress() = default;
    virtual void report(const config::protocol::Progress& record) = 0;

    void inform(const profiler::Message& what, std::string where = {}, std::string hint = {}, std::int64_t count = 1);
    void warn(const profiler::Message& what, std::string where = {}, std::string hint = {}, std::int64_t count = 1);
    void fail(const profiler::Message& what, std::string where = {}, std::string hint = {});
};

/// Lines of the protocol on a descriptor. A reader that does not read never holds the training up: step records are
/// left out then, others wait for it a second at most. Makes the descriptor non-blocking.
std::unique_ptr<Progress> progressToDescriptor(int descriptor);
/// Sentences for people on stderr; steps at most once a second.
std::unique_ptr<Progress> progressToTerminal();

/// "out of room (/data/x): choose another folder": a notice as a sentence.
std::string sentence(const config::protocol::Notice& notice);

} // namespace trainer
