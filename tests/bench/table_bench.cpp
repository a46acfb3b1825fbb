// How long a table of the app takes over a large trace: table_bench [SLICES, default 10,000,000]
#include "app/tables/table_model.h"
#include "app/tables/table_query.h"
#include "profiler/model/trace_builder.h"

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QFile>
#include <cstdio>
#include <random>
#include <string>

using namespace profiler;

namespace {

constexpr int kNames = 400;
constexpr int kStreams = 8;

/// Kernels of some hundred names on some streams, back to back, as a long training has them.
std::shared_ptr<const Trace> kernels(std::size_t count)
{
    std::mt19937_64 random(7);
    TraceBuilder builder;
    std::vector<std::uint32_t> names;
    for (int i = 0; i < kNames; ++i)
        names.push_back(builder.intern("void kernel_" + std::to_string(i) + "<float, 128>(float*, int)").value);
    for (int stream = 0; stream < kStreams; ++stream) {
        Track track;
        track.kind = TrackKind::Stream;
        track.name = "stream " + std::to_string(stream);
        const TrackId id = builder.addTrack(track);
        std::vector<RawSlice> slices(count / kStreams);
        std::int64_t at = 0;
        for (RawSlice& slice : slices) {
            slice.begin = at;
            slice.duration = static_cast<std::int64_t>(1000 + random() % 100'000);
            slice.kind = ActivityKind::Kernel;
            slice.name = names[random() % names.size()];
            at += slice.duration + 500;
        }
        builder.addMany(id, std::move(slices), Depth::Inferred);
    }
    return builder.finish(2);
}

void printMemory()
{
    QFile status("/proc/self/status");
    if (status.open(QIODevice::ReadOnly))
        for (const QByteArray& line : status.readAll().split('\n'))
            if (line.startsWith("VmRSS") || line.startsWith("VmHWM"))
                std::printf("%s\n", line.simplified().constData());
}

} // namespace

int main(int argc, char** argv)
{
    const std::size_t count = argc > 1 ? std::stoul(argv[1]) : 10'000'000;
    const auto trace = kernels(count);
    std::printf("%zu slices, %.1f bytes a slice in the model\n", trace->sliceCount(),
                static_cast<double>(trace->memoryBytes()) / static_cast<double>(trace->sliceCount()));
    printMemory();
    const app::TableSubject subject = app::kernelSubject();
    app::TableQuery query{{}, {}, true, std::make_shared<const app::Steps>()};
    std::shared_ptr<const app::TableRows> rows;
    const auto measure = [&](const char* what) {
        QElapsedTimer timer;
        timer.start();
        rows = runQuery(trace, subject, query);
        std::printf("%-32s %8.1f ms  %zu rows\n", what, static_cast<double>(timer.nsecsElapsed()) / 1e6, rows->size());
    };
    measure("grouped by name");
    query.grouped = false;
    measure("every slice by begin");
    query.order = {static_cast<int>(app::Field::Duration), true};
    measure("every slice by duration");
    query.order = {static_cast<int>(app::Field::Name), false};
    measure("every slice by name");
    query.filter.text = "kernel_39";
    measure("every slice named kernel_39…");
    query.filter.text.clear();
    query.order = {};
    measure("every slice by begin");
    printMemory();

    QElapsedTimer timer;
    timer.start();
    const auto found = rows->find(trace->slice(rows->slice(rows->size() - 1)));
    std::printf("%-32s %8.1f ms  row %zu\n", "the row of the last slice",
                static_cast<double>(timer.nsecsElapsed()) / 1e6, found.value_or(0));
    app::TableModel model;
    model.setRows(rows);
    timer.restart();
    for (int row = 0; row < 50; ++row) // as many as a screen shows, from the middle
        for (int column = 0; column < model.columnCount(); ++column)
            static_cast<void>(model.index(model.rowCount() / 2 + row, column).data());
    std::printf("%-32s %8.3f ms\n", "cells of a screen of 50 rows", static_cast<double>(timer.nsecsElapsed()) / 1e6);
    return 0;
}
