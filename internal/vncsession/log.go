package vncsession

import (
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
)

// maxFields is how many fields a line has at most.
const maxFields = 18

// writeLog writes the one line of the session. The token is named by a part of its hash.
func (s *Session) writeLog(r *activity.Record) {
	level, message := zapcore.InfoLevel, "vnc session"
	if s.Live == nil {
		level, message = zapcore.WarnLevel, "vnc connection refused"
	}
	entry := s.deps.Logger.Check(level, message)
	if entry == nil {
		return
	}
	fields := append(make([]zap.Field, 0, maxFields),
		zap.String("session", r.ID),
		zap.String("workstation", r.Workstation),
		zap.String("key", r.Key),
		zap.String("tenant", r.Tenant),
		zap.String("token", s.Pass.TokenID),
		zap.String("remote", s.viewer.String()),
		zap.String("security", s.security),
		zap.Duration("duration", r.Latency.Round(time.Microsecond)),
	)
	if s.Live != nil {
		fields = append(fields, zap.String("ended", r.Ended), zap.Int64("bytes_up", r.BytesUp), zap.Int64("bytes_down", r.BytesDown))
	}
	if r.Code != "" {
		fields = append(fields, zap.String("code", r.Code))
	}
	if r.Role != "" {
		fields = append(fields, zap.String("role", r.Role))
	}
	switch r.Role {
	case desktop.RoleGuest:
		fields = append(fields, zap.String("joined", s.Pass.Guest.Host))
	case desktop.RoleAgent:
		fields = append(fields, zap.Int64("actions", r.Actions), zap.Int64("screenshots", r.Screenshots), zap.Int64("typed", r.Typed))
	}
	if r.User != "" {
		fields = append(fields, zap.String("user", r.User))
	}
	if r.TraceID != "" {
		fields = append(fields, zap.String("trace_id", r.TraceID))
	}
	if s.cause != nil {
		fields = append(fields, zap.String("cause", s.deps.Redact(s.cause.Error())))
	}
	entry.Write(fields...)
}
