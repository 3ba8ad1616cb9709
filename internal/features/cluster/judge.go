package cluster

import (
	"errors"
	"fmt"
	"strings"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/valkey"
)

// engineJudge looks at each engine that a node gets: also one that has taken over, or was away at
// the start.
type engineJudge struct {
	hard     bool // a budget must not be exceeded
	distrust func(error)
	logger   *zap.Logger
	last     string // what was found
}

// judge returns an error if the engine would lose what was spent. Then nothing is spent under a
// hard budget until its settings are changed.
func (j *engineJudge) judge(server valkey.Server) error {
	found := server.Check(j.hard)
	err := refused(found)
	j.distrust(err)
	text := fmt.Sprint(found)
	if text == j.last {
		return err
	}
	if len(found) == 0 && j.last != "" {
		j.logger.Info("the settings of Valkey are as they should be")
	}
	j.last = text
	for _, f := range found {
		if f.Refused {
			j.logger.Error("hard budgets are shut: "+f.Problem, zap.String("advice", f.Advice))
		} else {
			j.logger.Warn(f.Problem, zap.String("advice", f.Advice))
		}
	}
	return err
}

// refused returns the findings that forbid the use of an engine, nil if there are none.
func refused(found []valkey.Finding) error {
	var all []string
	for _, f := range found {
		if f.Refused {
			all = append(all, f.String())
		}
	}
	if len(all) == 0 {
		return nil
	}
	return errors.New(strings.Join(all, " "))
}
