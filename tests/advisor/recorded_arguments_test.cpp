// Values of the user's program, read from the operator arguments that PyTorch's profiler records.
#include "advisor/evidence/program_values.h"
#include "profiler/model/trace.h"
#include "profiler/model/trace_builder.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace advisor_test {
namespace {

using namespace profiler;
using advisor::ProgramValues;

/// An operator and its "Concrete Inputs".
struct Recorded {
    std::string name, inputs;
};

class Inputs : public ArgSource {
public:
    explicit Inputs(std::vector<Recorded> ops) : m_ops(std::move(ops)) {}
    Result<SliceDetails> read(std::uint64_t source) const override
    {
        return SliceDetails{{"Concrete Inputs", m_ops.at(source - 1).inputs}};
    }

private:
    std::vector<Recorded> m_ops;
};

/// The values from a trace in which an optimizer of this class runs the operators.
ProgramValues valuesOf(const std::string& optimizer, const std::vector<Recorded>& ops)
{
    TraceBuilder builder;
    Track main;
    main.kind = TrackKind::MainThread;
    const TrackId track = builder.addTrack(main);
    builder.setArgSource(std::make_shared<Inputs>(ops));
    Slice step;
    step.duration = Nanoseconds{static_cast<std::int64_t>(100 * (ops.size() + 1))};
    step.name = builder.intern("Optimizer.step#" + optimizer + ".step");
    step.kind = ActivityKind::UserAnnotation;
    builder.add(track, step);
    for (std::size_t i = 0; i < ops.size(); ++i) {
        Slice op;
        op.begin = TraceTime(Nanoseconds{static_cast<std::int64_t>(100 * i + 10)});
        op.duration = Nanoseconds{50};
        op.name = builder.intern(ops[i].name);
        op.kind = ActivityKind::CpuOp;
        op.source = i + 1;
        builder.add(track, op);
    }
    return advisor::programValues(*builder.finish());
}

TEST(RecordedArguments, OfAFusedOptimizerAreItsSettings)
{
    const ProgramValues adamw = valuesOf(
        "AdamW", {{"aten::_fused_adamw_",
                   R"(["", "", "", "", "", "", "0.0003", "0.9", "0.95", "0.1", "1e-08", "False", "False", "", ""])"}});
    EXPECT_EQ(adamw.optimizer, "torch.optim.AdamW");
    EXPECT_EQ(adamw.optimizerSettings, "lr=0.0003, weight_decay=0.1, eps=1e-08");
    EXPECT_EQ(adamw.learningRate, "0.0003");
    EXPECT_EQ(adamw.weightDecay, 0.1);
    EXPECT_FALSE(adamw.hasAllSettings) << "betas and others may differ from their defaults";
    const ProgramValues sgd = valuesOf(
        "SGD", {{"aten::_fused_sgd_", R"(["", "", "", "0.0005", "0.9", "0.1", "0", "False", "False", "False"])"}});
    EXPECT_EQ(sgd.optimizerSettings, "lr=0.1, momentum=0.9, weight_decay=0.0005, dampening=0");
    EXPECT_EQ(sgd.learningRate, "0.1");
    EXPECT_EQ(sgd.weightDecay, 0.0005);
}

TEST(RecordedArguments, ALearningRateInATensorIsUnknown)
{
    const ProgramValues values = valuesOf(
        "Adam", {{"aten::_fused_adam_", R"(["", "", "", "", "", "", "", "0.9", "0.999", "0", "1e-08", "False"])"}});
    EXPECT_EQ(values.optimizer, "torch.optim.Adam");
    EXPECT_EQ(values.optimizerSettings, "weight_decay=0, eps=1e-08");
    EXPECT_EQ(values.learningRate, "");
}

TEST(RecordedArguments, SgdAddsGradientsTimesTheNegativeRate)
{
    const Recorded momentum{"aten::add_", R"(["", "", "1"])"}, update{"aten::add_", R"(["", "", "-0.05"])"};
    const ProgramValues loop = valuesOf("SGD", {momentum, update, momentum, update});
    EXPECT_EQ(loop.learningRate, "0.05");
    EXPECT_EQ(loop.optimizerSettings, "lr=0.05");
    EXPECT_EQ(loop.weightDecay, std::nullopt);
    EXPECT_EQ(valuesOf("SGD", {{"aten::_foreach_add_", R"(["", "", "-0.2"])"}}).learningRate, "0.2");
}

TEST(RecordedArguments, ParameterGroupsWithDifferentRatesHaveNoCommonOne)
{
    const auto update = [](const char* rate) {
        return Recorded{"aten::add_", R"(["", "", ")" + std::string(rate) + R"("])"};
    };
    EXPECT_EQ(valuesOf("SGD", {update("-0.1"), update("-0.01")}).learningRate, "");
    EXPECT_EQ(valuesOf("SGD", {update("-0.1"), update("-0.1")}).learningRate, "0.1");
}

TEST(RecordedArguments, AdditionsOfAnotherOptimizerAreNotARate)
{
    EXPECT_EQ(valuesOf("RMSprop", {{"aten::add_", R"(["", "", "-0.1"])"}}).learningRate, "");
    EXPECT_EQ(valuesOf("SGD", {{"aten::add_", ""}}).learningRate, "") << "arguments were not recorded";
}

} // namespace
} // namespace advisor_test
