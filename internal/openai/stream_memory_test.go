package openai_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

func TestAnIdleStreamHoldsLittle(t *testing.T) {
	const streams = 1000
	held := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	events := [][]byte{
		[]byte(chunk(first, "null")), []byte(strings.Replace(typical, " word", strings.Repeat("long ", 10_000), 1)),
		[]byte(typical), []byte(typical),
	}
	dst := make([]byte, 0, 128<<10)
	before := held()
	all := make([]*openai.ChatStream, streams)
	sources := make([]openai.Events, streams)
	for i := range all {
		all[i] = openai.NewChatStream(newCall())
		for _, e := range events {
			event := sources[i].Next(nil, e)
			all[i].Data(dst, event)
			event.Release()
		}
	}
	each := (held() - before) / streams
	t.Logf("%d bytes a stream", each)
	if each > 2<<10 {
		t.Errorf("%d bytes a stream", each)
	}
	runtime.KeepAlive(all)
	runtime.KeepAlive(sources)
}
