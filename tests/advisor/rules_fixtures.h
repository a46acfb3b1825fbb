#pragma once

#include "advisor/rule.h"
#include "profiler/analysis/facts.h"

#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace advisor_test {

struct Fixture;
/// For rules about the work of devices.
std::vector<Fixture> deviceFixtures();
/// For rules about the run's settings, its loss and its memory.
std::vector<Fixture> settingFixtures();

/// A trace and the configuration of its run.
struct Fixture {
    std::string_view name; ///< stem of the rule and state: "loader_workers_fires"
    std::string_view stem;
    advisor::State state{};
    std::string text;                     ///< in the format of traceFromText()
    bool imported = false;                ///< without a configuration
    std::vector<std::string> assignments; ///< differences of the configuration from the naive one
};

/// How GoogleTest prints a parameter.
void PrintTo(const Fixture& fixture, std::ostream* out);

/// For each rule, at least one fixture that fires, one that is silent and one that cannot tell.
const std::vector<Fixture>& fixtures();

/// A fixture's trace, analyzed, and the verdict of one rule on it.
class Judged {
public:
    Judged(std::string_view stem, const std::string& text, const std::vector<std::string>& assignments = {},
           bool imported = false);
    explicit Judged(const Fixture& fixture) : Judged(fixture.stem, fixture.text, fixture.assignments, fixture.imported)
    {
    }
    [[nodiscard]] const advisor::Advice& advice() const { return m_advice; }
    [[nodiscard]] const profiler::Trace& trace() const { return *m_trace; }

private:
    std::shared_ptr<const profiler::Trace> m_trace;
    advisor::Advice m_advice;
};

/// The verdict of one rule on an imported trace, which has no configuration.
inline advisor::Advice judge(std::string_view stem, const std::string& text)
{
    return Judged(stem, text, {}, true).advice();
}

/// Text of a Python program with 20 steps of 1,000 µs. Each ends with `outsideUs` outside of the phases, in which line 12
/// of /p/train.py was sampled; before that, line 9 was.
/// @param more  further tracks
std::string sampledProgram(int outsideUs, std::string_view more = {});

/// Text of a CPU run: `steps` steps of `stepUs` with a data wait of `waitUs` in which the main thread loads, and
/// operators that fill forward and backward; `convShare` of the operator time is convolutions.
std::string cpuRun(double stepUs, double waitUs, double convShare = 0.5, std::string_view more = {});
/// Text of a GPU run with steps of 100 µs: the GPU computes for 60 µs, copies 4 bytes to the host and idles for
/// `idleUs`, while the host waits for `blockedUs`.
std::string gpuRun(double idleUs, double blockedUs, std::string_view kernel = "sgemm_128x64");

} // namespace advisor_test
