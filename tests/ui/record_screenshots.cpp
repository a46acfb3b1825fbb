#include "app/document/analyser.h"
#include "app/findings/finding_card.h"
#include "app/findings/patch_box.h"
#include "app/record/record_dialog.h"
#include "app/views/source/source.h"
#include "app/window/window_dialogs.h"
#include "tests/ui/photographer.h"

#include <QApplication>
#include <QComboBox>
#include <QDockWidget>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QTableView>
#include <QTest>

// Takes screenshots of recording a Python program, of its findings and of measuring the first change, in light and
// dark: stepscope_record_screenshots COMMAND DIRECTORY FOLDER [WIDTHxHEIGHT]. DIRECTORY is the working directory of the
// command; FOLDER is for the screenshots.
namespace {

class RecordPhotographer : public ui::Photographer {
public:
    using Photographer::Photographer;

    void takeAll(const QString& command, const QString& directory)
    {
        take("record_door");
        m_window.findChild<QPushButton*>("recordCard")->click();
        m_dialog = m_window.findChild<app::RecordDialog*>();
        m_dialog->findChild<QLineEdit*>("folder")->setText(directory);
        take("record_empty", m_dialog);
        run("no-such-program --fast");
        await("the refusal", [this] { return !m_dialog->isRecording(); });
        take("record_error", m_dialog);
        run(command);
        await("the question", [this] { return m_window.findChild<app::TrustQuestion*>(); });
        auto* question = m_window.findChild<app::TrustQuestion*>();
        take("record_question", question);
        question->findChild<QPushButton*>("trust")->click();
        await("some output", [this] { return m_dialog->findChild<QPlainTextEdit*>("output")->blockCount() > 1; });
        take("record_running", m_dialog);
        await("the part so far", [this] { return m_bench.document.advice() && m_bench.document.advice()->live; });
        take("record_live");
        await("the end of the program", [this] { return !m_dialog->isRecording(); });
        await("the findings", [this] { return m_bench.document.advice() && !m_bench.document.advice()->live; });
        take("record_opened");
        takeSource();
        takeCard();
    }

private:
    void takeSource()
    {
        raise("sourcePanel");
        m_window.resizeDocks({m_window.findChild<QDockWidget*>("dock:sourcePanel")}, {460}, Qt::Vertical);
        QTest::qWait(500);
        take("source");
        auto* table = m_window.findChild<QTableView*>("sourceTable");
        auto* model = static_cast<app::SourceModel*>(table->model());
        table->setCurrentIndex(model->index(model->hottestRow(), app::SourceModel::Line));
        QTest::qWait(500);
        take("source_line");
        for (int row = 0; row < model->rowCount(); ++row)
            if (!model->findingsOf(row).empty()) {
                table->setCurrentIndex(model->index(row, app::SourceModel::Line));
                break;
            }
        QTest::qWait(500);
        take("source_finding");
    }

    /// The first finding that can be measured.
    void takeCard()
    {
        auto* dock = m_window.findChild<QDockWidget*>("dock:advisor");
        m_window.resizeDocks({m_window.findChild<QDockWidget*>("dock:sourcePanel")}, {200}, Qt::Vertical);
        m_window.resizeDocks({dock}, {420}, Qt::Horizontal);
        app::FindingCard* card = nullptr;
        for (auto* one : dock->findChildren<app::FindingCard*>())
            if (!card && one->findChild<QPushButton*>("apply")->isVisibleTo(one))
                card = one;
        if (!card)
            qFatal("no finding can be measured");
        take("card", card);
        card->findChild<QPushButton*>("showDiff")->click();
        await("the diff", [&] { return card->findChild<QPlainTextEdit*>("diff")->isVisibleTo(card); });
        take("card_diff", card);
        card->findChild<QPushButton*>("apply")->click();
        await("the first pairs", [this] {
            const auto& progress = m_bench.experiments.progress();
            return progress && progress->pairs.size() > 1;
        });
        take("card_measuring", card);
        await(
            "the verdict", [this] { return !m_bench.experiments.isRunning(); }, std::chrono::minutes(10));
        take("card_verdict", card);
        card->findChild<QPushButton*>("keep")->click();
        QTest::qWait(500);
        take("card_kept");
    }

    void run(const QString& command)
    {
        m_dialog->findChild<QComboBox*>("command")->setCurrentText(command);
        m_dialog->findChild<QPushButton*>("record")->click();
    }

    app::RecordDialog* m_dialog = nullptr;
};

} // namespace

int main(int argc, char** argv)
{
    ui::beTheApplication();
    QApplication application(argc, argv);
    const QStringList arguments = QApplication::arguments();
    if (arguments.size() < 4)
        qFatal("usage: stepscope_record_screenshots COMMAND DIRECTORY FOLDER [WIDTHxHEIGHT]");
    RecordPhotographer(arguments[3], ui::sizeOf(arguments.value(4, "1440x900"))).takeAll(arguments[1], arguments[2]);
    return 0;
}
