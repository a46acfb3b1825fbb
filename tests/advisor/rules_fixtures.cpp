#include "tests/advisor/rules_fixtures.h"

#include "tests/support/trace_text.h"

#include "advisor_rules_registry.h"

#include <cstdlib>
#include <fmt/format.h>
#include <iostream>

namespace advisor_test {

using advisor::State;

namespace {

constexpr std::string_view kBf16Cpu = "meta host.cpu_flags fma avx512f avx512_bf16\n";
constexpr std::string_view kOldCpu = "meta host.cpu_flags fma avx2\n";
constexpr std::string_view kNoOps = "main\nrepeat 10 every 1000\nstep 0 0 1000\nphase \"data wait\" 0 600\nend\n";

/// Steps of 1,000 µs that fill 40 gradients in the zero grad phase and add to them in backward.
std::string zeroing(double fillUs)
{
    return fmt::format(R"(
        main
          repeat 10 every 1000
            step 0 0 1000
            phase "zero grad" 0 {0}
            op aten::zero_ 1 {1}
            phase backward 300 600
            op AccumulateGrad 400 20
            op aten::add_ 402 15
          end
    )",
                       fillUs + 5, fillUs);
}

std::string validation(std::string_view ops)
{
    return "main\nrepeat 10 every 1000\nstep 0 0 1000\nend\nphase validation 10000 5000\n" + std::string(ops);
}

std::string anomaly(std::string_view checks)
{
    return "main\nrepeat 10 every 1000\nstep 0 0 1000\nphase backward 100 800\nop aten::mm 200 300\n" +
           std::string(checks) + "\nend";
}

/// A worker that is fast enough on average but has hiccups: three batches of 300 µs, then one of 2,100; a step computes
/// for 900 µs.
std::string hiccups()
{
    return R"(
        meta host.cores 8
        meta host.threads 1
        main
          repeat 10 every 4600
            step 0 0 900
            step 0 900 910
            phase "data wait" 900 10
            step 0 1810 910
            phase "data wait" 1810 10
            step 0 2720 1880
            phase "data wait" 2720 980
          end
        worker 0
          repeat 10 every 4600
            stage decode 0 290
            stage collate 290 10
            stage decode 900 290
            stage collate 1190 10
            stage decode 1300 290
            stage collate 1590 10
            stage decode 1600 2090
            stage collate 3690 10
          end
    )";
}

/// Steps that wait for two workers, one of which loads a batch in 300 µs and the other in `slowUs`.
std::string twoWorkers(int slowUs)
{
    return fmt::format("main\nrepeat 10 every 1000\nstep 0 0 1000\nphase \"data wait\" 0 200\nend\n"
                       "worker 0\nrepeat 10 every 1000\nstage collate 5 300\nend\n"
                       "worker 1\nrepeat 10 every 1000\nstage collate 5 {}\nend\n",
                       slowUs);
}

std::vector<Fixture> loaderFixtures()
{
    return {
        {"loader_workers_fires", "loader_workers", State::Fires, cpuRun(1000, 600), false, {}},
        {"loader_workers_silent", "loader_workers", State::Silent, cpuRun(1000, 40), false, {}},
        {"loader_workers_cannot_tell", "loader_workers", State::CannotTell, "main\nstep 0 0 100", false, {}},
        {"loader_prefetch_factor_fires",
         "loader_prefetch_factor",
         State::Fires,
         hiccups(),
         false,
         {"loader.workers=1"}},
        {"loader_balance_fires", "loader_balance", State::Fires, twoWorkers(950), true, {}},
        {"loader_balance_silent", "loader_balance", State::Silent, twoWorkers(400), true, {}},
        {"loader_balance_cannot_tell", "loader_balance", State::CannotTell, cpuRun(1000, 600), true, {}},
        {"loader_prefetch_factor_silent", "loader_prefetch_factor", State::Silent, cpuRun(1000, 600), false, {}},
        {"loader_prefetch_factor_cannot_tell", "loader_prefetch_factor", State::CannotTell, hiccups(), true, {}},
    };
}

std::vector<Fixture> stepFixtures()
{
    return {
        {"zero_grad_set_to_none_fires", "zero_grad_set_to_none", State::Fires, zeroing(30), false, {}},
        {"zero_grad_set_to_none_silent",
         "zero_grad_set_to_none",
         State::Silent,
         zeroing(30),
         false,
         {"zero_grad.set_to_none=true"}},
        {"zero_grad_set_to_none_cannot_tell",
         "zero_grad_set_to_none",
         State::CannotTell,
         std::string(kNoOps),
         false,
         {}},
        {"memory_format_fires", "memory_format", State::Fires, cpuRun(1000, 100, 0.7), false, {}},
        {"memory_format_silent", "memory_format", State::Silent, cpuRun(1000, 100, 0.1), false, {}},
        {"memory_format_cannot_tell", "memory_format", State::CannotTell, std::string(kNoOps), false, {}},
        {"precision_amp_fires", "precision_amp", State::Fires, cpuRun(1000, 100, 0.85, kBf16Cpu), false, {}},
        {"precision_amp_silent", "precision_amp", State::Silent, cpuRun(1000, 100, 0.7, kOldCpu), false, {}},
        {"precision_amp_cannot_tell", "precision_amp", State::CannotTell, cpuRun(1000, 100, 0.7), false, {}},
    };
}

std::vector<Fixture> otherFixtures()
{
    return {
        {"sync_every_n_steps_fires", "sync_every_n_steps", State::Fires, gpuRun(30, 20), false, {}},
        {"sync_every_n_steps_silent", "sync_every_n_steps", State::Silent, cpuRun(1000, 100), false, {}},
        {"sync_every_n_steps_cannot_tell",
         "sync_every_n_steps",
         State::CannotTell,
         cpuRun(1000, 100),
         false,
         {"device=cuda"}},
        {"eval_no_grad_fires",
         "eval_no_grad",
         State::Fires,
         validation("op aten::conv2d 10000 500 seq=4"),
         false,
         {"eval.no_grad=false"}},
        {"eval_no_grad_silent",
         "eval_no_grad",
         State::Silent,
         validation("op aten::conv2d 10000 500"),
         false,
         {"eval.no_grad=true"}},
        {"eval_no_grad_cannot_tell",
         "eval_no_grad",
         State::CannotTell,
         cpuRun(1000, 100),
         false,
         {"eval.no_grad=false"}},
        {"debug_anomaly_fires",
         "debug_anomaly",
         State::Fires,
         anomaly("op aten::isnan 600 20"),
         false,
         {"debug.anomaly=true"}},
        {"debug_anomaly_silent", "debug_anomaly", State::Silent, anomaly(""), false, {"debug.anomaly=false"}},
        {"debug_anomaly_cannot_tell", "debug_anomaly", State::CannotTell, std::string(kNoOps), true, {}},
    };
}

config::TrainingConfig configuration(const std::vector<std::string>& assignments)
{
    config::TrainingConfig result;
    for (const std::string& assignment : assignments)
        if (const auto set = result.setAssignment(assignment); !set) {
            std::cerr << set.error().message() << '\n';
            std::abort();
        }
    return result;
}

} // namespace

const std::vector<Fixture>& fixtures()
{
    static const std::vector<Fixture> all = [] {
        std::vector<Fixture> rows = loaderFixtures();
        for (const auto& more : {stepFixtures(), otherFixtures(), deviceFixtures(), settingFixtures()})
            rows.insert(rows.end(), more.begin(), more.end());
        return rows;
    }();
    return all;
}

void PrintTo(const Fixture& fixture, std::ostream* out)
{
    *out << fixture.name;
}

Judged::Judged(std::string_view stem, const std::string& text, const std::vector<std::string>& assignments,
               bool imported)
    : m_trace(test_support::traceFromText(text))
{
    const config::TrainingConfig config = configuration(assignments);
    const profiler::analysis::Facts facts = profiler::analysis::analyse(*m_trace);
    for (const auto& rule : advisor::rules::all())
        if (rule.stem == stem) {
            m_advice = rule.entry.check({*m_trace, facts, imported ? nullptr : &config, nullptr});
            return;
        }
    std::cerr << "There is no rule " << stem << '\n';
    std::abort();
}

std::string sampledProgram(int outsideUs, std::string_view more)
{
    std::string samples = "0,0";
    for (int step = 0; step < 20; ++step)
        samples += fmt::format(",1,{},0,{}", 1000 - outsideUs, outsideUs);
    return fmt::format(R"(meta lines {{"schema":1,"interval_us":1000,"begin_ns":0,"files":["/p/train.py"],)"
                       R"("places":[[0,9,"main"],[0,12,"main"]],"stacks":[[0],[1]],"samples":[{}]}})"
                       "\nrepeat 20 every 1000\n  main\n    step 0 0 1000\n    phase forward 0 {}\nend\n{}",
                       samples, 1000 - outsideUs, more);
}

std::string cpuRun(double stepUs, double waitUs, double convShare, std::string_view more)
{
    const double compute = stepUs - waitUs;
    return fmt::format(R"(
        meta host.cores 2
        meta host.threads 1
        {6}
        main
          repeat 20 every {0}
            step 0 0 {0}
            phase "data wait" 0 {1}
            stage read 0 {2}
            stage decode {2} {3}
            phase forward {1} {4}
            op aten::convolution {1} {5}
            phase backward {7} {4}
            op aten::relu {7} {8}
          end
    )",
                       stepUs, waitUs, waitUs / 4, waitUs / 2, compute / 2, compute / 2 * convShare, more,
                       waitUs + compute / 2, compute / 2 * (1 - convShare));
}

std::string gpuRun(double idleUs, double blockedUs, std::string_view kernel)
{
    return fmt::format(R"(
        device 0 gpu
        main
          repeat 20 every 100
            step 0 0 100
            phase metrics 40 {1}
            call cudaMemcpyAsync 40 2
            sync cudaStreamSynchronize 42 {2}
          end
        stream 0 7
          repeat 20 every 100
            kernel {3} 0 60
            copy DtoH 60 2 bytes=4 src=device dst=pinned
            kernel elementwise {4} {5}
          end
    )",
                       idleUs, blockedUs, blockedUs - 2, kernel, 62 + idleUs, 38 - idleUs);
}

} // namespace advisor_test
