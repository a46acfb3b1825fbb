#include "app/report/pdf_report.h"
#include "app/report/report_document.h"
#include "app/report/svg_object.h"

#include <QAbstractTextDocumentLayout>
#include <QBuffer>
#include <QFile>
#include <QPdfWriter>
#include <QRegularExpression>
#include <QSet>
#include <QTemporaryDir>
#include <QTest>
#include <QTextBlock>
#include <QTextTable>

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

/// A report with this page height.
struct Paper {
    explicit Paper(const ReportModel& model, double height = 3000) : writer(&buffer)
    {
        buffer.open(QIODevice::WriteOnly);
        writer.setResolution(300);
        document.documentLayout()->setPaintDevice(&writer);
        QTextOption wrapping;
        wrapping.setWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
        document.setDefaultTextOption(wrapping);
        document.setDefaultFont(QFont("sans-serif", 9));
        document.setDocumentMargin(0);
        document.setPageSize({2000, height});
        app::fillDocument(document, model);
    }
    [[nodiscard]] int pageOf(const QTextBlock& block) const
    {
        return static_cast<int>(document.documentLayout()->blockBoundingRect(block).top() /
                                document.pageSize().height());
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
    void chartsKeepTheirAspectRatio();
    void noHeadingEndsAPage();
    void isWrittenCompletelyOrNotAtAll();
    void wordsInTablesAreNotBroken();
    void longNamesAreShownShortenedAndInFull();
    void namesBreakAtSeparators();
};

void PdfReportTest::namesAreTextAndNeverMarkup()
{
    const Paper paper(modelWith(2));
    const QString text = paper.document.toPlainText();
    for (const char* part : {"Training report: <b>convnet</b>", "Duration of the steps", "The step waits for data",
                             "They share the cores.", "Heading 1", "aten::add", "DataLoader(dataset)"})
        QVERIFY2(text.contains(part), part);
}

void PdfReportTest::chartsKeepTheirAspectRatio()
{
    app::SvgObject object(nullptr);
    QTextCharFormat format;
    const std::string svg = advisor::svg::lines({{"step", {1, 2, 3}}}, "ms", true).svg;
    format.setProperty(app::SvgObject::kSvg, QByteArray::fromStdString(svg));
    format.setProperty(app::SvgObject::kWidth, 380.0);
    QCOMPARE(object.intrinsicSize(nullptr, 0, format), QSizeF(380, 110)); // half of 760 × 220

    QImage page(380, 110, QImage::Format_RGB32);
    page.fill(Qt::white);
    QPainter painter(&page);
    object.drawObject(&painter, QRectF(0, 0, 380, 110), nullptr, 0, format);
    painter.end();
    int coloured = 0;
    for (int x = 0; x < page.width(); ++x)
        for (int y = 0; y < page.height(); ++y) {
            const QColor at = page.pixelColor(x, y);
            coloured += at.blue() - at.red() > 60 ? 1 : 0;
        }
    QVERIFY(coloured > 100); // the line
}

void PdfReportTest::noHeadingEndsAPage()
{
    const Paper paper(modelWith(60), 1100);
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
        const Paper code(modelWith(tables), 1100);
        for (QTextBlock block = code.document.begin(); block.isValid(); block = block.next())
            if (block.text() == "Code to paste")
                QCOMPARE(code.pageOf(block.next()), code.pageOf(block));
    }
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

void PdfReportTest::wordsInTablesAreNotBroken()
{
    // A4 without margins, at the resolution of the report.
    const Paper paper(crowded());
    QStringList lines = linesOfTables(paper);
    QVERIFY(lines.size() > 20);
    QSet<QString> words;
    for (const QString& line : lines)
        for (const QString& word : line.split(QRegularExpression("[ \\x{2028}]"), Qt::SkipEmptyParts))
            words.insert(QString(word).replace(QChar::Nbsp, ' '));
    // Numbers with their units and the words of the headings are each on one line.
    for (const char* word : {"9.00 µs", "17.0 µs", "28.1 ms", "61.0 MB", "1,516", "Launches", "Queue", "Delay", "max",
                             "Phase", "cudaMemsetAsync", "volta_sgemm_64x64_nt", "empty"})
        QVERIFY2(words.contains(QString::fromUtf8(word)), word);
    // Numbers are right-aligned.
    for (QTextBlock block = paper.document.begin(); block.isValid(); block = block.next())
        if (block.text() == "102" || block.text() == "Count")
            QCOMPARE(block.blockFormat().alignment(), Qt::AlignRight);
    // Everything fits on the page.
    QVERIFY(paper.document.size().width() <= paper.document.pageSize().width() + 1);
}

void PdfReportTest::longNamesAreShownShortenedAndInFull()
{
    const Paper paper(crowded());
    const QStringList lines = linesOfTables(paper);
    QVERIFY(lines.contains("at::native::vectorized_elementwise_kernel<…>"));
    QString text = paper.document.toPlainText();
    QVERIFY(text.replace(QChar::LineSeparator, QString())
                .replace('\n', QString())
                .contains(QString::fromStdString(kKernel)));
    // Ordinary text is not a name.
    ReportModel model;
    model.tables = {{"Why",
                     {"Rule"},
                     {{"The trace does not record how much of the device's memory was taken "
                       "(record at the level full)."}},
                     {}}};
    QVERIFY(Paper(model).document.toPlainText().contains("(record at the level full)"));
}

void PdfReportTest::namesBreakAtSeparators()
{
    std::string path;
    for (int i = 0; i < 40; ++i)
        path += "/a_rather_long_folder" + std::to_string(i);
    ReportModel model;
    model.environment = {{"Data", path}, {"Loss", "0.123456789012"}};
    const Paper paper(model);
    const QStringList lines = linesOfTables(paper);
    QString joined;
    int parts = 0;
    for (QString line : lines) {
        line.remove(QChar::LineSeparator);
        joined += line;
        if (line.contains("folder") && !line.endsWith("folder39")) {
            ++parts;
            QVERIFY2(line.endsWith('/') || line.endsWith('_'), qPrintable(line));
        }
    }
    QVERIFY(parts > 1);
    QVERIFY(joined.contains(QString::fromStdString(path)));
    QVERIFY(lines.contains("0.123456789012"));
}

QTEST_MAIN(PdfReportTest)
#include "pdf_report_test.moc"
