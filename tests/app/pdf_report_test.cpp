#include "app/report/pdf_report.h"

#include <QAbstractTextDocumentLayout>
#include <QBuffer>
#include <QFile>
#include <QFileInfo>
#include <QImage>
#include <QPdfWriter>
#include <QRegularExpression>
#include <QSet>
#include <QTemporaryDir>
#include <QTest>
#include <QTextBlock>
#include <QTextLayout>
#include <QTextTable>
#include <QUrl>
#include <atomic>
#include <thread>

using advisor::ReportModel;

namespace {

ReportModel modelWith(int tables)
{
    ReportModel model;
    model.title = "Training report: <b>convnet</b>";
    model.environment = {{"Model", "convnet"}};
    model.figures = {{"Duration of the steps", advisor::svg::lines({{"step", {1, 2, 3}}}, "ms", true), "Three steps."}};
    advisor::RuleAdvice found{"loader.workers", {}};
    found.advice.state = advisor::State::Fires;
    found.advice.title = "The step waits for data";
    found.advice.caveats = {profiler::foreignText("They share the cores.")};
    model.advice = {found};
    for (int i = 0; i < tables; ++i)
        model.tables.push_back(
            {"Heading " + std::to_string(i), {"What", "Time"}, {{"aten::add", "1.00 ms"}}, "A step's."});
    model.code = {{"loader.workers", "loader = DataLoader(dataset)", "auto loader = 1;"}};
    return model;
}

/// The layout of a report on pages of this size.
struct Paper {
    explicit Paper(const ReportModel& model, const QSizeF& mm = {210, 297}) : writer(&buffer)
    {
        buffer.open(QIODevice::WriteOnly);
        writer.setResolution(300);
        writer.setPageLayout(QPageLayout(QPageSize(mm, QPageSize::Millimeter), QPageLayout::Portrait,
                                         QMarginsF(18, 18, 18, 18), QPageLayout::Millimeter));
        app::layOutReport(document, writer, model);
    }
    /// The page of the block's first line, from 0.
    [[nodiscard]] int pageOf(const QTextBlock& block) const
    {
        const double top = document.documentLayout()->blockBoundingRect(block).top();
        const double line = block.layout()->lineCount() > 0 ? block.layout()->lineAt(0).y() : 0;
        return static_cast<int>((top + line + 1) / document.pageSize().height());
    }
    /// Without the characters that only allow or prevent line breaks.
    [[nodiscard]] QString text() const
    {
        return document.toPlainText().remove(QChar(0x200B)).replace(QChar::Nbsp, ' ');
    }
    QBuffer buffer;
    QPdfWriter writer;
    QTextDocument document;
};

const std::string kKernel = "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>, "
                            "at::detail::Array<char*, 3> >(int, at::native::AddFunctor<float>)";

/// Tables that used to break words: many narrow columns next to a wide one, with headings longer than their numbers.
ReportModel crowded()
{
    ReportModel model;
    model.title = "Report";
    model.tables = {
        {"Launches and the device's queue",
         {"Device", "Launches a step", "Call p50", "p99", "Delay p50", "p95", "Queue mean", "max", "Queue empty",
          "Into empty queue"},
         {{"Tesla V100-DGXS-32GB (GPU 0)", "1,516", "9.00 µs", "17.0 µs", "9.50 ms", "28.1 ms", "94.1", "569", "37.0 %",
           "16.4 %"}},
         {}},
        {"Longest kernels",
         {"Kernel", "Count", "Time"},
         {{kKernel, "3,090", "39.8 ms"}, {"volta_sgemm_64x64_nt", "102", "21.1 ms"}},
         {}},
        {"Who sets memory on the device",
         {"Called by", "In", "Phase", "Call", "Calls a step", "Bytes a step", "Time a step"},
         {{"CudnnConvolutionBackward > aten::cudnn_convolution_backward > aten::cudnn_convolution_backward_weight", "–",
           "–", "cudaMemsetAsync", "51", "61.0 MB", "88.0 µs"}},
         {}}};
    return model;
}

/// The lines of all table cells after layout.
QStringList linesOfTables(const Paper& paper)
{
    static_cast<void>(paper.document.documentLayout()->documentSize()); // performs the layout
    QStringList lines;
    for (QTextBlock block = paper.document.begin(); block.isValid(); block = block.next()) {
        if (!QTextCursor(block).currentTable())
            continue;
        for (int i = 0; i < block.layout()->lineCount(); ++i) {
            const QTextLine line = block.layout()->lineAt(i);
            lines << block.text().mid(line.textStart(), line.textLength());
        }
    }
    return lines;
}

} // namespace

class PdfReportTest : public QObject {
    Q_OBJECT

private slots:
    void namesAreTextAndNeverMarkup();
    void chartsBecomeImagesThatFillTheLine();
    void everyTextIsLaidOut();
    void noHeadingEndsAPage();
    void tablesRepeatTheirHeaders();
    void isWrittenCompletelyOrNotAtAll();
    void aThreadThatIsNotOfQtCausesNoWarning();
    void wordsInTablesAreNotBroken();
    void longNamesAreBrokenAtSeparatorsAndStayOnThePage();
};

void PdfReportTest::namesAreTextAndNeverMarkup()
{
    const Paper paper(modelWith(2));
    const QString text = paper.text();
    for (const char* part : {"Training report: <b>convnet</b>", "Duration of the steps", "The step waits for data",
                             "They share the cores.", "Heading 1", "aten::add", "DataLoader(dataset)"})
        QVERIFY2(text.contains(part), part);
}

void PdfReportTest::chartsBecomeImagesThatFillTheLine()
{
    ReportModel model = modelWith(1);
    model.figures.push_back({"Where step time goes", advisor::svg::shares({{"copies", 1, "#0072b2"}}), {}});
    const Paper paper(model);
    const auto image = paper.document.resource(QTextDocument::ImageResource, QUrl("chart:0")).value<QImage>();
    QCOMPARE(image.size(), QSize(3 * 760, 3 * 220));
    int coloured = 0;
    for (int x = 0; x < image.width(); ++x)
        for (int y = 0; y < image.height(); ++y) {
            const QColor at = image.pixelColor(x, y);
            coloured += at.blue() - at.red() > 60 ? 1 : 0;
        }
    QVERIFY(coloured > 1000); // the line
    int images = 0;
    for (QTextBlock block = paper.document.begin(); block.isValid(); block = block.next())
        for (auto part = block.begin(); !part.atEnd(); ++part)
            if (part.fragment().charFormat().isImageFormat()) {
                const QRectF line = paper.document.documentLayout()->blockBoundingRect(block);
                const double width = paper.document.pageSize().width();
                const double height = width * (images++ == 0 ? 220.0 : 34.0) / 760;
                QVERIFY2(line.height() > 0.98 * height && line.height() < 1.1 * height + 20,
                         qPrintable(QString::number(line.height())));
            }
    QCOMPARE(images, 2);
    QVERIFY(paper.text().contains("copies 100.0 %")); // the legend
}

void PdfReportTest::everyTextIsLaidOut()
{
    ReportModel model = modelWith(60);
    const ReportModel wide = crowded();
    model.tables.insert(model.tables.begin(), wide.tables.begin(), wide.tables.end());
    for (const double height : {297.0, 140.0}) {
        const Paper paper(model, {210, height});
        QVERIFY(paper.document.pageCount() > 3); // performs the layout
        for (QTextBlock block = paper.document.begin(); block.isValid(); block = block.next())
            if (!block.text().isEmpty()) {
                QVERIFY2(block.layout()->lineCount() > 0, qPrintable(block.text()));
                QVERIFY2(block.layout()->boundingRect().height() > 10, qPrintable(block.text()));
            }
    }
}

void PdfReportTest::noHeadingEndsAPage()
{
    const Paper paper(modelWith(60), {205, 140});
    QVERIFY(paper.document.pageCount() > 5);
    int headings = 0;
    for (QTextBlock block = paper.document.begin(); block.isValid(); block = block.next())
        if (block.text().startsWith("Heading ")) {
            ++headings;
            QCOMPARE(paper.pageOf(block.next()), paper.pageOf(block));
        }
    QCOMPARE(headings, 60);
    // Also not two consecutive ones.
    for (int tables = 1; tables < 30; ++tables) {
        const Paper code(modelWith(tables), {205, 140});
        for (QTextBlock block = code.document.begin(); block.isValid(); block = block.next())
            if (block.text() == "Code to copy")
                QCOMPARE(code.pageOf(block.next()), code.pageOf(block));
    }
}

void PdfReportTest::tablesRepeatTheirHeaders()
{
    const Paper paper(crowded());
    int tables = 0;
    for (QTextFrame* frame : paper.document.rootFrame()->childFrames())
        if (const auto* table = qobject_cast<QTextTable*>(frame)) {
            ++tables;
            QCOMPARE(table->format().headerRowCount(), 1);
        }
    QCOMPARE(tables, 3);
}

void PdfReportTest::isWrittenCompletelyOrNotAtAll()
{
    const QTemporaryDir folder;
    const QString path = folder.filePath("report.pdf");
    QVERIFY(app::writePdfReport(path.toStdString(), modelWith(3)));
    QFile file(path);
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QByteArray content = file.readAll();
    QVERIFY(content.startsWith("%PDF-") && content.trimmed().endsWith("%%EOF"));
    const auto failed = app::writePdfReport(folder.filePath("no/such/report.pdf").toStdString(), modelWith(1));
    QVERIFY(!failed);
    QVERIFY(QString::fromStdString(failed.error().message()).contains("cannot be written"));
}

void PdfReportTest::aThreadThatIsNotOfQtCausesNoWarning()
{
    const QTemporaryDir folder;
    static std::atomic<int> s_warnings;
    const auto before = qInstallMessageHandler(
        [](QtMsgType, const QMessageLogContext&, const QString& text) { s_warnings += text.contains("QBasicTimer"); });
    std::thread([&] {
        static_cast<void>(app::writePdfReport(folder.filePath("report.pdf").toStdString(), modelWith(60)));
    }).join();
    qInstallMessageHandler(before);
    QVERIFY(QFileInfo(folder.filePath("report.pdf")).size() > 0);
    QCOMPARE(s_warnings.load(), 0);
}

void PdfReportTest::wordsInTablesAreNotBroken()
{
    const Paper paper(crowded());
    const QStringList lines = linesOfTables(paper);
    QVERIFY(lines.size() > 20);
    QSet<QString> words;
    for (const QString& line : lines)
        for (const QString& word : line.split(' ', Qt::SkipEmptyParts))
            words.insert(QString(word).replace(QChar::Nbsp, ' '));
    // Numbers with their units and the words of the headings are each on one line.
    for (const char* word : {"9.00 µs", "17.0 µs", "28.1 ms", "61.0 MB", "1,516", "Launches", "Queue", "Delay", "max",
                             "Phase", "cudaMemsetAsync", "volta_sgemm_64x64_nt", "empty"})
        QVERIFY2(words.contains(QString::fromUtf8(word)), word);
    QVERIFY(paper.document.size().width() <= paper.document.pageSize().width() + 1);
}

void PdfReportTest::longNamesAreBrokenAtSeparatorsAndStayOnThePage()
{
    std::string path;
    for (int i = 0; i < 40; ++i)
        path += "/a_rather_long_folder" + std::to_string(i);
    const std::string mangled = "ZN" + std::string(300, 'x'), sentence = std::string(200, 'y');
    ReportModel model = crowded();
    model.title = path;
    model.environment = {{"Data", path}, {"Loss", "0.123456789012345678901234"}};
    model.tables[1].rows.push_back({mangled, "1", "2.00 ms"});
    model.advice = modelWith(0).advice;
    model.advice[0].advice.caveats.push_back(profiler::foreignText(sentence));
    model.command = "python " + sentence;
    const Paper paper(model);
    const QStringList lines = linesOfTables(paper);
    int parts = 0;
    for (QString line : lines)
        if (line.contains("folder") && !line.endsWith("folder39")) {
            ++parts;
            line.remove(QChar(0x200B));
            QVERIFY2(line.endsWith('/') || line.endsWith('_'), qPrintable(line));
        }
    QVERIFY(parts > 1);
    for (const std::string& whole : {path, mangled, sentence, kKernel})
        QVERIFY2(paper.text().contains(QString::fromStdString(whole)), whole.c_str());
    QVERIFY(lines.contains("0.123456789012345678901234"));
    QVERIFY(paper.document.size().width() <= paper.document.pageSize().width() + 1);
}

QTEST_MAIN(PdfReportTest)
#include "pdf_report_test.moc"
