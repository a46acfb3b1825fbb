#include "app/views/memory/memory_panel.h"
#include "tests/ui/photographer.h"

#include <QApplication>
#include <QLabel>
#include <cstdio>

// Opens a trace in the real app and takes screenshots of each part of its Memory view:
// stepscope_memory_screenshots TRACE FOLDER [WIDTHxHEIGHT]
namespace {

class MemoryPhotographer : private ui::Photographer {
public:
    MemoryPhotographer(const QString& trace, QString folder, QSize size) : Photographer(std::move(folder), size)
    {
        bool opened = false;
        QObject::connect(&m_bench.document, &app::TraceDocument::traceOpened, &m_window, [&] { opened = true; });
        m_bench.document.openTrace(trace.toStdString());
        await("the trace", [&] { return opened; });
        awaitAnalysis();
    }

    void takeAll()
    {
        raise("memory");
        auto* panel = m_window.findChild<app::MemoryPanel*>();
        await("the memory", [panel] { return panel->isUpToDate(); });
        if (panel->findChild<QLabel*>("memoryEmpty")->isVisible())
            return take("memory_empty");
        using Panel = app::MemoryPanel;
        const std::pair<Panel::Page, const char*> pages[] = {{Panel::Holders, "memory_holders"},
                                                             {Panel::Treemap, "memory_treemap"},
                                                             {Panel::Segments, "memory_segments"},
                                                             {Panel::Categories, "memory_categories"}};
        for (const auto& [page, name] : pages)
            if (panel->hasPage(page)) {
                panel->setPage(page);
                take(name);
            }
    }
};

} // namespace

int main(int argc, char** argv)
{
    ui::beTheApplication();
    QApplication application(argc, argv);
    const QStringList arguments = QApplication::arguments();
    if (arguments.size() < 3) {
        std::fputs("stepscope_memory_screenshots TRACE FOLDER [WIDTHxHEIGHT]\n", stderr);
        return 2;
    }
    MemoryPhotographer(arguments[1], arguments[2], ui::sizeOf(arguments.value(3, "1600x950"))).takeAll();
    return 0;
}
