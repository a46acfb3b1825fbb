#include "tests/ui/photographer.h"

#include <QDir>
#include <QDockWidget>
#include <QTest>
#include <cstdio>

namespace ui {

namespace {
constexpr int kSettleMs = 600; ///< wait for delayed drawing
} // namespace

void beTheApplication()
{
    QCoreApplication::setOrganizationName("Stepscope");
    QCoreApplication::setApplicationName("stepscope");
}

QSize sizeOf(const QString& text)
{
    const QStringList sides = text.split('x');
    const QSize size(sides.value(0).toInt(), sides.value(1).toInt());
    if (sides.size() != 2 || size.isEmpty())
        qFatal("%s is not a size: WIDTHxHEIGHT", qPrintable(text));
    return size;
}

Photographer::Photographer(QString folder, QSize size) : m_folder(std::move(folder)), m_window(&m_bench, &m_appearance)
{
    m_window.resize(size);
    m_window.show();
    await("the window", [this] { return m_window.isComplete(); });
}

void Photographer::await(const char* what, const std::function<bool()>& condition, std::chrono::milliseconds patience)
{
    if (!QTest::qWaitFor(condition, static_cast<int>(patience.count())))
        qFatal("%s did not appear in time", what);
    QTest::qWait(kSettleMs);
}

void Photographer::awaitAnalysis()
{
    await("the analysis", [this] {
        return m_bench.document.analysed() && m_bench.document.analysed()->trace == m_bench.document.trace();
    });
}

void Photographer::raise(const QString& view)
{
    auto* dock = m_window.findChild<QDockWidget*>("dock:" + view);
    if (!dock)
        qFatal("there is no dock %s", qPrintable(view));
    dock->raise();
    QTest::qWait(kSettleMs);
}

void Photographer::take(const QString& name, QWidget* widget)
{
    for (const auto& [theme, suffix] : {std::pair(app::Theme::Dark, "dark"), std::pair(app::Theme::Light, "light")}) {
        m_appearance.setTheme(theme);
        QTest::qWait(150);
        QDir().mkpath(m_folder);
        const QString file = QString("%1/%2_%3.png").arg(m_folder, name, suffix);
        if (!(widget ? widget : &m_window)->grab().save(file))
            qFatal("%s cannot be written", qPrintable(file));
        std::printf("%s\n", qPrintable(file));
    }
    std::fflush(stdout);
}

} // namespace ui
