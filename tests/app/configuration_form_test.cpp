#include "app/views/run/run.h"

#include "app/views/run/knob_editor.h"
#include "app/views/run/knob_row.h"
#include "tests/app/app_support.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDir>
#include <QLabel>
#include <QLineEdit>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>

using app::ConfigurationForm;
using app::KnobRow;
using app_test::find;

namespace {
std::unique_ptr<app_test::OwnFolders> folders;

QString rowName(std::string_view key)
{
    return "knob:" + QString::fromUtf8(key.data(), static_cast<qsizetype>(key.size()));
}
} // namespace

class ConfigurationFormTest : public QObject {
    Q_OBJECT
public:
    static void initMain() { folders = std::make_unique<app_test::OwnFolders>(); }

private slots:
    void init();
    void everyKnobHasAFieldWithItsDocumentation();
    void fieldsAreAligned();
    void typingAValueSetsTheKnob();
    void aRefusedValueIsExplainedUnderItsField();
    void leavingARefusedFieldAloneKeepsTheMessage();
    void aChoiceAndAFlagAreSetByMouseAndKeyboard();
    void resetRestoresTheDefault();
    void aDataSetThatCannotBeUsedIsExplainedBeforeTheStart();
    void undoShowsTheOldValue();
    void theSearchFindsByKeyLabelAndDescription();
    void anAdvancedKnobIsShownWhenChanged();
    void aKnobThatNeedsAGpuIsDisabledWithAReason();
    void aKnobWithoutEffectIsHiddenWithAReason();
    void everyKnobHasAnEffectSomewhere();
    void changedKnobsAreCountedAndReset();
    void choicesGetTheirTitlesFromTheTrainer();
    void numbersStepByTheirLeadingDigit();
    void theMeaningOfZeroIsShownNextToTheField();

private:
    KnobRow* row(std::string_view key) const { return find<KnobRow>(m_form.get(), rowName(key)); }
    QLineEdit* field(std::string_view key) const { return row(key)->findChild<QLineEdit*>(); }

    std::unique_ptr<app::Workbench> m_bench;
    std::unique_ptr<ConfigurationForm> m_form;
};

void ConfigurationFormTest::init()
{
    m_form.reset();
    m_bench = std::make_unique<app::Workbench>();
    m_form =
        std::make_unique<ConfigurationForm>(&m_bench->configuration, &m_bench->levelCosts, &m_bench->jobs, nullptr);
    m_form->resize(360, 900);
    m_form->show();
    QVERIFY(QTest::qWaitForWindowExposed(m_form.get()));
}

void ConfigurationFormTest::everyKnobHasAFieldWithItsDocumentation()
{
    for (const config::Knob& knob : config::knobs()) {
        const KnobRow* shown = row(knob.key);
        QVERIFY2(
            shown->whatsThis().contains(QString::fromUtf8(knob.key.data(), static_cast<qsizetype>(knob.key.size()))),
            qPrintable(shown->objectName()));
        QCOMPARE(shown->toolTip(), shown->whatsThis());
        QVERIFY(shown->findChild<QWidget*>("editor")->accessibleName().size() > 1);
    }
}

void ConfigurationFormTest::fieldsAreAligned()
{
    const int left = row("batch.size")->findChild<QWidget*>("editor")->x();
    int seen = 0;
    for (const config::Knob& knob : config::knobs())
        if (const KnobRow* shown = row(knob.key); shown->isVisible()) {
            ++seen;
            QVERIFY2(shown->findChild<QWidget*>("editor")->x() == left, qPrintable(shown->objectName()));
        }
    QVERIFY(seen > 10);
}

void ConfigurationFormTest::typingAValueSetsTheKnob()
{
    QLineEdit* edit = field("batch.size");
    edit->selectAll();
    QTest::keyClicks(edit, "64");
    QTest::keyClick(edit, Qt::Key_Return);
    QCOMPARE(m_bench->configuration.get().text("batch.size"), "64");
    QVERIFY(find<QWidget>(row("batch.size"), "reset")->isVisible());
}

void ConfigurationFormTest::aRefusedValueIsExplainedUnderItsField()
{
    QLineEdit* edit = field("loader.workers");
    edit->selectAll();
    QTest::keyClicks(edit, "9999");
    QTest::keyClick(edit, Qt::Key_Return);
    const auto* error = find<QLabel>(row("loader.workers"), "error");
    QVERIFY(error->isVisible());
    QVERIFY2(error->text().contains("256"), qPrintable(error->text()));
    QCOMPARE(m_bench->configuration.get().text("loader.workers"), "0");
    QCOMPARE(edit->text(), "9999");
    edit->selectAll();
    QTest::keyClicks(edit, "2");
    QTest::keyClick(edit, Qt::Key_Return);
    QVERIFY(!error->isVisible());
    QCOMPARE(m_bench->configuration.get().text("loader.workers"), "2");
}

void ConfigurationFormTest::leavingARefusedFieldAloneKeepsTheMessage()
{
    QLineEdit* edit = field("optimizer.learning_rate");
    edit->setFocus();
    edit->selectAll();
    QTest::keyClicks(edit, "fast");
    QTest::keyClick(edit, Qt::Key_Tab);
    QVERIFY(find<QLabel>(row("optimizer.learning_rate"), "error")->isVisible());
    QCOMPARE(m_bench->configuration.get().text("optimizer.learning_rate"), "0.05");
}

void ConfigurationFormTest::aChoiceAndAFlagAreSetByMouseAndKeyboard()
{
    auto* box = row("memory_format")->findChild<QComboBox*>();
    box->setFocus();
    QTest::keyClick(box, Qt::Key_Down);
    QCOMPARE(m_bench->configuration.get().text("memory_format"), "channels_last");
    auto* check = row("debug.anomaly")->findChild<QCheckBox*>();
    QTest::mouseClick(check, Qt::LeftButton, {}, QPoint(8, check->height() / 2));
    QCOMPARE(m_bench->configuration.get().text("debug.anomaly"), "true");
}

void ConfigurationFormTest::resetRestoresTheDefault()
{
    QVERIFY(!m_bench->configuration.setKnob("batch.size", "64"));
    auto* reset = find<QToolButton>(row("batch.size"), "reset");
    QVERIFY(reset->isVisible());
    QTest::mouseClick(reset, Qt::LeftButton);
    QCOMPARE(m_bench->configuration.get().text("batch.size"), "32");
    QVERIFY(!reset->isVisible());
}

void ConfigurationFormTest::aDataSetThatCannotBeUsedIsExplainedBeforeTheStart()
{
    const QTemporaryDir folder;
    QVERIFY(!m_bench->configuration.setKnob("dataset.kind", "image_folder"));
    auto* path = field("dataset.path");
    auto* error = find<QLabel>(row("dataset.path"), "error");
    QVERIFY(!error->isVisible());
    const auto enter = [&](const QString& text) {
        path->setText(text);
        path->setModified(true); // like typing
        QTest::keyClick(path, Qt::Key_Return);
    };
    // Checked as soon as it is chosen.
    enter(folder.filePath("none"));
    QTRY_VERIFY2(error->isVisible() && error->text().contains("no such file or folder"), qPrintable(error->text()));
    enter(folder.path());
    QTRY_VERIFY2(error->text().contains("is empty"), qPrintable(error->text()));
    // Also checked at the start, which starts nothing if the chosen folder has changed since.
    QVERIFY(!m_bench->configuration.setKnob("dataset.path", folder.path()));
    QVERIFY(QFile(folder.filePath("readme.txt")).open(QIODevice::WriteOnly));
    QSignalSpy noticed(&m_bench->notices, &app::Notices::noticed);
    m_bench->training.start();
    QTRY_VERIFY(!noticed.isEmpty());
    QCOMPARE(m_bench->training.state(), app::RunState::Idle);
    QVERIFY2(noticed.last()[0].toString().contains("dataset"), qPrintable(noticed.last()[0].toString()));
    QVERIFY2(error->text().contains("no subfolder with JPEG or PNG files"), qPrintable(error->text()));
    QVERIFY(QDir(folder.path()).mkdir("cat") &&
            QFile::copy(folder.filePath("readme.txt"), folder.filePath("cat/1.jpg")));
    enter(folder.path() + '/');
    QTRY_VERIFY2(!error->isVisible(), qPrintable(error->text()));
}

void ConfigurationFormTest::undoShowsTheOldValue()
{
    QVERIFY(!m_bench->configuration.setKnob("batch.size", "64"));
    QCOMPARE(field("batch.size")->text(), "64");
    m_bench->configuration.undoStack()->undo();
    QCOMPARE(field("batch.size")->text(), "32");
}

void ConfigurationFormTest::theSearchFindsByKeyLabelAndDescription()
{
    auto* search = find<QLineEdit>(m_form.get(), "searchKnobs");
    QTest::keyClicks(search, "loader.prefetch");
    QVERIFY(row("loader.prefetch_factor")->isVisible());
    QVERIFY(!row("batch.size")->isVisible());
    search->setText("ahead");
    QVERIFY(row("loader.prefetch_factor")->isVisible());
    search->setText("no knob is called this");
    QVERIFY(!row("loader.prefetch_factor")->isVisible());
    search->clear();
    QVERIFY(row("batch.size")->isVisible());
}

void ConfigurationFormTest::anAdvancedKnobIsShownWhenChanged()
{
    QVERIFY(!row("run.seed")->isVisible());
    QVERIFY(!m_bench->configuration.setKnob("run.seed", "7"));
    QVERIFY(row("run.seed")->isVisible());
}

void ConfigurationFormTest::aKnobThatNeedsAGpuIsDisabledWithAReason()
{
    QSignalSpy described(&m_bench->configuration, &app::ConfigurationModel::descriptionChanged);
    QVERIFY(find<QWidget>(row("loader.pin_memory"), "editor")->isEnabled());
    m_bench->configuration.refreshDescription();
    QVERIFY(described.wait(10000));
    QVERIFY(!find<QWidget>(row("loader.pin_memory"), "editor")->isEnabled());
    QVERIFY(row("loader.pin_memory")->toolTip().contains("no NVIDIA driver"));
    QCOMPARE(find<QLabel>(row("loader.pin_memory"), "whyGrey")->text(), QString("Needs a GPU"));
    QVERIFY(find<QLabel>(row("loader.pin_memory"), "whyGrey")->isVisible());
    QVERIFY(find<QWidget>(row("loader.workers"), "editor")->isEnabled());
}

void ConfigurationFormTest::aKnobWithoutEffectIsHiddenWithAReason()
{
    QVERIFY(!row("loader.prefetch_factor")->isVisible());
    m_form->findChild<QCheckBox*>("allKnobs")->setChecked(true);
    const KnobRow* prefetch = row("loader.prefetch_factor");
    QVERIFY(prefetch->isVisible());
    const auto* why = find<QLabel>(prefetch, "whyGrey");
    QCOMPARE(why->text(), QString("No effect while Workers is 0"));
    QVERIFY(why->isVisible() && prefetch->toolTip().contains(why->text()));
    QVERIFY(find<QWidget>(prefetch, "editor")->isEnabled()); // it can be set before the workers
    QCOMPARE(find<QLabel>(row("schedule.final_share"), "whyGrey")->text(),
             QString("No effect unless Schedule is cosine, linear or one_cycle"));
    m_form->findChild<QCheckBox*>("allKnobs")->setChecked(false);
    QVERIFY(!m_bench->configuration.setKnob("loader.workers", "2"));
    QVERIFY(prefetch->isVisible());
    QVERIFY(!why->isVisible());
}

void ConfigurationFormTest::everyKnobHasAnEffectSomewhere()
{
    // The default configuration, and each that differs from it in one knob: this finds dependencies on values that do
    // not exist.
    std::vector<config::TrainingConfig> configurations(1);
    for (const config::Knob& knob : config::knobs()) {
        std::vector<std::string> values(knob.choices.begin(), knob.choices.end());
        if (knob.type == config::KnobType::Flag)
            values = {"true", "false"};
        if (knob.type == config::KnobType::Integer)
            values = {"0", "1", "2"};
        if (knob.type == config::KnobType::Real)
            values = {"0", "0.5"};
        for (const std::string& value : values) {
            config::TrainingConfig configuration;
            if (configuration.set(knob.key, value))
                configurations.push_back(configuration);
        }
    }
    for (const config::Knob& knob : config::knobs())
        QVERIFY2(std::any_of(configurations.begin(), configurations.end(),
                             [&](const auto& one) { return app::whyNoEffect(knob.key, one).isEmpty(); }),
                 qPrintable(rowName(knob.key)));
}

void ConfigurationFormTest::changedKnobsAreCountedAndReset()
{
    auto* changed = find<QToolButton>(m_form.get(), "onlyChanged");
    QVERIFY(!changed->isVisible());
    QVERIFY(!m_bench->configuration.setKnob("batch.size", "64"));
    QVERIFY(!m_bench->configuration.setKnob("run.seed", "7"));
    QVERIFY(changed->isVisible());
    QCOMPARE(changed->text(), QString("2 changed"));
    changed->click();
    QVERIFY(row("batch.size")->isVisible() && row("run.seed")->isVisible());
    QVERIFY(!row("loader.workers")->isVisible());
    find<QToolButton>(m_form.get(), "resetAll")->click();
    QCOMPARE(m_bench->configuration.get(), config::TrainingConfig());
    QVERIFY(!changed->isVisible());
    QVERIFY(row("loader.workers")->isVisible());
    m_bench->configuration.undoStack()->undo();
    QCOMPARE(m_bench->configuration.get().text("batch.size"), "64");
}

void ConfigurationFormTest::choicesGetTheirTitlesFromTheTrainer()
{
    QSignalSpy described(&m_bench->configuration, &app::ConfigurationModel::descriptionChanged);
    m_bench->configuration.refreshDescription();
    QVERIFY(described.count() > 0 || described.wait(10000));
    QCOMPARE(row("workload")->findChild<QComboBox*>()->currentText(), "Small convnet");
    QCOMPARE(m_bench->configuration.get().text("workload"), "convnet");
}

void ConfigurationFormTest::numbersStepByTheirLeadingDigit()
{
    QCOMPARE(app::steppedValue(4, true, true), 5.0);
    QCOMPARE(app::steppedValue(0.05, true, false), 0.06);
    QCOMPARE(app::steppedValue(0.1, true, false), 0.2);
    QCOMPARE(app::steppedValue(0.1, false, false), 0.09);
    QCOMPARE(app::steppedValue(0.09, true, false), 0.1);
    QCOMPARE(app::steppedValue(0, true, false), 0.001);
}

void ConfigurationFormTest::theMeaningOfZeroIsShownNextToTheField()
{
    for (const config::Knob& knob : config::knobs())
        QVERIFY2(knob.zero.empty() || knob.min == 0, knob.key.data());
    const auto* unit = row("model.depth")->findChild<QLabel*>("unit");
    QCOMPARE(unit->text(), QString("by size"));
    QVERIFY(!m_bench->configuration.setKnob("model.depth", "3"));
    QCOMPARE(unit->text(), QString("layers"));
    m_bench->configuration.undoStack()->undo();
    QCOMPARE(unit->text(), QString("by size"));
    QCOMPARE(row("gradient.clip_norm")->findChild<QLabel*>("unit")->text(), QString("never"));
    QCOMPARE(row("loader.workers")->findChild<QLabel*>("unit")->text(), QString("threads"));
}

QTEST_MAIN(ConfigurationFormTest)
#include "configuration_form_test.moc"
