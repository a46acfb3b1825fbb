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
/// Of rules that judge what devices did.
std::vector<Fixture> deviceFixtures();
/// Of rules that judge the run's settings, its loss and its memory.
std::vector<Fixture> settingFixtures();

/// A trace and the configuration of its run.
struct Fixture {
    std::string_view name; ///< stem of the rule and state: "loader_workers_fires"
    std::string_view stem;
    advisor::State state{};
    std::string text;                     ///< as traceFromText takes it
    bool imported = false;                ///< no configuration
    std::vector<std::string> assignments; ///< what the configuration has different from the naive one
};

/// How GoogleTest shows a parameter.
void PrintTo(const Fixture& fixture, std::ostream* out);

/// For each rule at least one fixture that fires, one that is silent and one that cannot tell.
const std::vector<Fixture>& fixtures();

/// A fixture's trace, analysed, and what one rule says of it.
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

/// What one rule says of a trace from elsewhere, which has no configuration.
inline advisor::Advice judge(std::string_view stem, const std::string& text)
{
    return Judged(stem, text, {}, true).advice();
}

/// Text of a CPU run: `steps` steps of `stepUs` with a data wait of `waitUs` that the main thread loads in, and ops
/// that fill forward and backward; `convShare` of the op time is convolution.
std::string cpuRun(double stepUs, double waitUs, double convShare = 0.5, std::string_view more = {});
/// Text of a GPU run of steps of 100 µs: the GPU computes for 60, copies 4 bytes home and idles for `idleUs`, while the
/// host waits for `blockedUs`.
std::string gpuRun(double idleUs, double blockedUs, std::string_view kernel = "sgemm_128x64");

} // namespace advisor_test
