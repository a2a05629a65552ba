// Boost.JSON's own sources, compiled once.
#include <boost/json/src.hpp>
