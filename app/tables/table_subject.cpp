#include "app/tables/table_subject.h"

#include <QCoreApplication>

namespace app {

using profiler::ActivityKind;

namespace {

QString text(const char* source)
{
    return QCoreApplication::translate("TableSubject", source);
}

} // namespace

TableSubject kernelSubject()
{
    return {"kernels",
            text("Kernels"),
            text("No kernels in this trace. Nothing ran on a GPU, or GPU activity was not recorded."),
            kindBits({ActivityKind::Kernel}),
            {Field::Name, Field::Begin, Field::Duration, Field::Class, Field::Precision, Field::TensorCores,
             Field::Grid, Field::Block, Field::Registers, Field::SharedMemory, Field::Occupancy, Field::Track,
             Field::Step, Field::Correlation, Field::Gpu, Field::Stream},
            {Field::Name, Field::Count, Field::Total, Field::Share, Field::Class, Field::Precision, Field::TensorCores,
             Field::ShareOfSteps, Field::Mean, Field::Median, Field::Shortest, Field::Longest, Field::Grid,
             Field::Block, Field::Registers, Field::SharedMemory, Field::Occupancy},
            {Field::ShareOfSteps, Field::Median, Field::Shortest, Field::Correlation, Field::Gpu, Field::Stream},
            {{Field::Name},
             {Field::Class},
             {Field::Precision},
             {Field::TensorCores},
             {Field::Track},
             {Field::Step},
             {Field::Class, Field::Step}}};
}

TableSubject opSubject()
{
    return {"ops",
            text("Ops"),
            text("No operators in this trace. They were not recorded."),
            kindBits({ActivityKind::CpuOp}),
            {Field::Name, Field::Begin, Field::Duration, Field::DeviceTime, Field::DeviceSelf, Field::Track,
             Field::Step, Field::Shapes, Field::Types, Field::Sequence},
            {Field::Name, Field::Count, Field::Self, Field::Total, Field::Share, Field::DeviceSelf, Field::DeviceTime,
             Field::Mean, Field::ShareOfSteps, Field::Median, Field::Shortest, Field::Longest},
            {Field::ShareOfSteps, Field::Shortest, Field::Sequence},
            {{Field::Name}, {Field::Name, Field::Shapes}, {Field::Track}, {Field::Step}, {Field::Name, Field::Track}}};
}

TableSubject copySubject()
{
    return {"copies",
            text("Copies"),
            text("No GPU copies in this trace."),
            kindBits({ActivityKind::GpuMemcpy}),
            {Field::Name, Field::Begin, Field::Duration, Field::Bytes, Field::Rate, Field::Direction, Field::Source,
             Field::Destination, Field::Track, Field::Step, Field::Correlation, Field::Gpu, Field::Stream},
            {Field::Name, Field::Count, Field::Total, Field::Bytes, Field::Rate, Field::Share, Field::ShareOfSteps,
             Field::Mean, Field::Median, Field::Shortest, Field::Longest},
            {Field::Correlation, Field::Gpu, Field::Stream},
            {{Field::Name}, {Field::Direction}, {Field::Source, Field::Destination}, {Field::Track}, {Field::Step}}};
}

TableSubject memsetSubject()
{
    return {"memsets",
            text("Memset"),
            text("No GPU memsets in this trace."),
            kindBits({ActivityKind::GpuMemset}),
            {Field::Name, Field::Begin, Field::Duration, Field::Bytes, Field::Rate, Field::Track, Field::Step,
             Field::Correlation, Field::Gpu, Field::Stream},
            {Field::Name, Field::Count, Field::Total, Field::Bytes, Field::Rate, Field::Share, Field::ShareOfSteps,
             Field::Mean, Field::Median, Field::Shortest, Field::Longest},
            {Field::Correlation, Field::Gpu, Field::Stream},
            {{Field::Name}, {Field::Track}, {Field::Step}}};
}

TableSubject runtimeSubject()
{
    return {"runtime",
            text("Runtime"),
            text("No CUDA calls in this trace. Nothing used a GPU, or the calls were not recorded."),
            kindBits({ActivityKind::CudaRuntime, ActivityKind::CudaDriver, ActivityKind::Sync}),
            {Field::Name, Field::Kind, Field::Begin, Field::Duration, Field::Track, Field::Step, Field::Correlation},
            {Field::Name, Field::Kind, Field::Count, Field::Self, Field::Total, Field::Share, Field::ShareOfSteps,
             Field::Mean, Field::Median, Field::Shortest, Field::Longest},
            {},
            {{Field::Name}, {Field::Kind}, {Field::Track}, {Field::Step}}};
}

TableSubject rangeSubject()
{
    return {"nvtx",
            text("NVTX"),
            text("No NVTX ranges or annotations in this trace."),
            kindBits({ActivityKind::Nvtx, ActivityKind::UserAnnotation, ActivityKind::GpuUserAnnotation}),
            {Field::Name, Field::Kind, Field::Begin, Field::Duration, Field::Track, Field::Step},
            {Field::Name, Field::Kind, Field::Count, Field::Self, Field::Total, Field::Share, Field::ShareOfSteps,
             Field::Mean, Field::Median, Field::Shortest, Field::Longest},
            {},
            {{Field::Name}, {Field::Kind}, {Field::Track}, {Field::Step}}};
}

TableSubject stepSubject()
{
    return {"steps", text("Steps"), text("No steps in this trace."), 0, {}, {}, {}};
}

} // namespace app
