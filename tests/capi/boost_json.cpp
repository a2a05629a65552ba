// Boost.JSON, compiled into the tests.
#include <boost/json/src.hpp>
