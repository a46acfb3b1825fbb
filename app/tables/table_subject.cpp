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
    return {text("Kernels"),
            text("No kernels in this trace. Nothing ran on a GPU, or GPU activity was not recorded."),
            kindBits({ActivityKind::Kernel}),
            {Field::Name, Field::Begin, Field::Duration, Field::Grid, Field::Block, Field::Registers,
             Field::SharedMemory, Field::Occupancy, Field::Track, Field::Step, Field::Correlation},
            {Field::Name, Field::Count, Field::Total, Field::Share, Field::ShareOfSteps, Field::Mean, Field::Median,
             Field::Shortest, Field::Longest, Field::Grid, Field::Block, Field::Registers, Field::SharedMemory,
             Field::Occupancy}};
}

TableSubject opSubject()
{
    return {text("Ops"),
            text("No operators in this trace. They were not recorded."),
            kindBits({ActivityKind::CpuOp}),
            {Field::Name, Field::Begin, Field::Duration, Field::Track, Field::Step, Field::Shapes, Field::Types,
             Field::Sequence},
            {Field::Name, Field::Count, Field::Self, Field::Total, Field::Share, Field::ShareOfSteps, Field::Mean,
             Field::Median, Field::Shortest, Field::Longest}};
}

TableSubject copySubject()
{
    return {text("Copies"),
            text("No GPU copies in this trace."),
            kindBits({ActivityKind::GpuMemcpy}),
            {Field::Name, Field::Begin, Field::Duration, Field::Bytes, Field::Rate, Field::Direction, Field::Source,
             Field::Destination, Field::Track, Field::Step, Field::Correlation},
            {Field::Name, Field::Count, Field::Total, Field::Bytes, Field::Rate, Field::Share, Field::ShareOfSteps,
             Field::Mean, Field::Median, Field::Shortest, Field::Longest}};
}

TableSubject memsetSubject()
{
    return {text("Memset"),
            text("No GPU memsets in this trace."),
            kindBits({ActivityKind::GpuMemset}),
            {Field::Name, Field::Begin, Field::Duration, Field::Bytes, Field::Rate, Field::Track, Field::Step,
             Field::Correlation},
            {Field::Name, Field::Count, Field::Total, Field::Bytes, Field::Rate, Field::Share, Field::ShareOfSteps,
             Field::Mean, Field::Median, Field::Shortest, Field::Longest}};
}

TableSubject runtimeSubject()
{
    return {text("Runtime"),
            text("No CUDA calls in this trace. Nothing used a GPU, or the calls were not recorded."),
            kindBits({ActivityKind::CudaRuntime, ActivityKind::CudaDriver, ActivityKind::Sync}),
            {Field::Name, Field::Kind, Field::Begin, Field::Duration, Field::Track, Field::Step, Field::Correlation},
            {Field::Name, Field::Kind, Field::Count, Field::Self, Field::Total, Field::Share, Field::ShareOfSteps,
             Field::Mean, Field::Median, Field::Shortest, Field::Longest}};
}

TableSubject rangeSubject()
{
    return {text("NVTX"),
            text("No NVTX ranges or annotations in this trace."),
            kindBits({ActivityKind::Nvtx, ActivityKind::UserAnnotation, ActivityKind::GpuUserAnnotation}),
            {Field::Name, Field::Kind, Field::Begin, Field::Duration, Field::Track, Field::Step},
            {Field::Name, Field::Kind, Field::Count, Field::Self, Field::Total, Field::Share, Field::ShareOfSteps,
             Field::Mean, Field::Median, Field::Shortest, Field::Longest}};
}

TableSubject stepSubject()
{
    return {text("Steps"), text("No steps in this trace."), 0, {}, {}};
}

} // namespace app
