#include "tests/app_timeline/qt_test_main.h"

int main(int argc, char** argv)
{
    return test::runWithWidgets(argc, argv);
}
