package valkey

import (
	"time"

	engine "github.com/valkey-io/valkey-go"
)

// Script is a Lua script. The server knows it by its hash, and gets its text when it does not: after
// its restart, or on a replica that was promoted.
type Script struct {
	name   string
	lua    *engine.Lua
	within time.Duration
	most   int64
}

// NewScript returns a script. Its name is for errors and metrics. Its messages have a second.
func NewScript(name, text string) *Script {
	return &Script{name: name, lua: engine.NewLuaScript(text), within: defaultTime, most: mostUnderWay}
}

// Within returns the script with another time for an answer. It is exact to 10 ms.
func (s *Script) Within(d time.Duration) *Script {
	changed := *s
	changed.within = d
	return &changed
}

// Important returns the script as one that is sent although too many messages are under way.
func (s *Script) Important() *Script {
	changed := *s
	changed.most = mostImportant
	return &changed
}

// String returns the name of the script.
func (s *Script) String() string { return s.name }
