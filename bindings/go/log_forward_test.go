package varve

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

func TestTheLowestLevelThatALoggerWants(t *testing.T) {
	for level, wanted := range map[slog.Level]LogLevel{slog.LevelDebug - 4: LogDebug,
		slog.LevelDebug: LogDebug, slog.LevelInfo: LogInfo, slog.LevelWarn: LogWarn,
		slog.LevelError: LogError, slog.LevelError + 4: LogOff} {
		options := &slog.HandlerOptions{Level: level}
		logger := slog.New(slog.NewTextHandler(new(bytes.Buffer), options))
		if lowest := lowestLevel(logger); lowest != wanted {
			t.Errorf("%d for %v, expected is %d", lowest, level, wanted)
		}
	}
}

func TestALineThatIsNoObjectIsForwardedAsItIs(t *testing.T) {
	var text bytes.Buffer
	forward(slog.New(slog.NewTextHandler(&text, nil)), LogWarn, []byte("out of ink"))
	if !strings.Contains(text.String(), `level=WARN msg="out of ink"`) {
		t.Error(text.String())
	}
}
