package valkey

import engine "github.com/valkey-io/valkey-go"

// Script is a Lua script. The server knows it by its hash, and gets its text when it does not.
type Script struct {
	name string
	lua  *engine.Lua
}

// NewScript returns a script. Its name is for errors and metrics.
func NewScript(name, text string) *Script { return &Script{name, engine.NewLuaScript(text)} }

// String returns the name of the script.
func (s *Script) String() string { return s.name }
