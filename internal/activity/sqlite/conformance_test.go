package sqlite_test

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/activitytest"
)

func TestALogOfSQLiteIsALog(t *testing.T) {
	activitytest.Run(t, func(t *testing.T) activity.Log {
		_, log := open(t, store.Options{})
		return log
	})
}
