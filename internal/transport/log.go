package transport

import (
	"context"
	"log/slog"
	"time"
)

// log writes one record for the attempt that just ended.
func (x *exchange) log(ctx context.Context) {
	var status int
	var message string
	level := slog.LevelDebug
	if x.success != nil {
		status = x.success.StatusCode
	} else if status, message = x.failure.StatusCode, x.failure.Message; status == 0 || status != x.request.Expected {
		level = slog.LevelWarn
	}
	if !x.client.logger.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("method", x.request.Method),
		slog.String("url", x.client.shownURL(x.request)),
		slog.Int("attempt", x.attempts),
		slog.Int("status", status),
		slog.Duration("duration", time.Since(x.started)),
		slog.String("request_id", x.requestID),
	}
	if message != "" {
		attrs = append(attrs, slog.String("error", message))
	}
	x.client.logger.LogAttrs(ctx, level, x.request.Op, attrs...)
}
