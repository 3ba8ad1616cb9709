package faults

// The replies that only the Messages API can write, and the usage of caches.

// StopSequence ends the answer of the model "stop-sequence".
const StopSequence = "END"

// What the model "cache-usage" reports beside the words of the prompt.
const (
	CacheRead      = 100
	CacheWrite     = 20 // for five minutes
	CacheWriteHour = 30
)

func usesCache(c *call) {
	u := &c.reply.Usage
	u.CacheRead, u.CacheWrite, u.CacheWriteHour = CacheRead, CacheWrite, CacheWriteHour
}

func redacts(c *call) {
	reasons(c)
	c.reply.Redacted = true
}

func stopsAt(c *call) { c.reply.StopSequence = StopSequence }

func finishesMessage(reason string) func(*call) {
	return func(c *call) {
		if c.api == anthropic {
			c.reply.Finish = reason
		}
	}
}

// searches lets a tool run at the provider.
func searches(c *call) {
	if c.api != anthropic {
		return
	}
	id := "srvtoolu_" + c.reply.ID
	found := object{}.With("type", "web_search_result").With("url", "https://example.com/oslo").With("title", "Oslo").
		With("encrypted_content", "ZmFrZQ==").With("page_age", "1 day ago")
	c.reply.Hosted = []object{
		object{}.With("type", "server_tool_use").With("id", id).With("name", "web_search").With("input", object{}.With("query", c.prompt)),
		object{}.With("type", "web_search_tool_result").With("tool_use_id", id).With("content", []object{found}),
	}
	c.reply.Citations = []object{
		object{}.With("type", "web_search_result_location").With("url", "https://example.com/oslo").With("title", "Oslo").
			With("encrypted_index", "ZmFrZQ==").With("cited_text", "Oslo is a city"),
	}
	c.reply.Usage.Searches = 1
}

func unknownBlock(c *call) {
	c.reply.Hosted = []object{object{}.With("type", "fake_block").With("mystery", "nobody knows this block")}
}

// unnamed leaves events of messages to their type.
func unnamed(events []event) []event {
	if events[0].Name != "message_start" {
		return events
	}
	for i := range events {
		events[i].Name = ""
	}
	return events
}

// pinged has a ping before every event but the first.
func pinged(events []event) (out []event) {
	for i, e := range events {
		if i > 0 && events[0].Name == "message_start" {
			out = append(out, event{Name: "ping", Data: object{}.With("type", "ping")})
		}
		out = append(out, e)
	}
	return out
}
