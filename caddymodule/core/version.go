package core

import (
	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/version"
)

func logVersion(logger *zap.Logger) {
	b := version.Read()
	logger.Info("gatehouse started", zap.String("version", b.Version), zap.String("commit", b.Commit))
}
