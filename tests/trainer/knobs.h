#pragma once

#include "tests/trainer/trace_view.h"
#include "tests/trainer/trainer_run.h"

#include <functional>
#include <ostream>
#include <string>
#include <vector>

namespace trainer_test {

/// What can be observed of a training with one value of a knob.
struct Seen {
    Finished run;
    [[nodiscard]] TraceView trace() const { return TraceView(run.trace); }
    [[nodiscard]] protocol::Hello hello() const { return run.one<protocol::Hello>(); }
};

/// A knob, two of its values, and a number that they must make different.
struct Observable {
    std::string key, a, b;
    std::string what;                ///< what the number is
    std::vector<std::string> around; ///< other settings of both runs
    std::function<double(const Seen&)> number;
    friend void PrintTo(const Observable& knob, std::ostream* out) { *out << knob.key; }
    enum class Expect { Less, Greater, Differs } expect; ///< number(a) … number(b)
};

std::vector<Observable> dataKnobs();
std::vector<Observable> datasetKnobs();
std::vector<Observable> modelKnobs();
std::vector<Observable> stepKnobs();
std::vector<Observable> updateKnobs();
std::vector<Observable> workKnobs();

} // namespace trainer_test
