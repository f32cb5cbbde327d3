// The studio in a notebook's cell: requests go to the kernel as anywidget's messages.

import { embed } from "./embed";
import { answeredBy } from "./protocol";

type Model = {
  send: (content: object) => void;
  on: (event: "msg:custom", heard: (content: { id: number; answer?: unknown; error?: string }) => void) => void;
};

export default {
  render({ model, el }: { model: Model; el: HTMLElement }) {
    const waiting = new Map<number, (content: { answer?: unknown; error?: string }) => void>();
    let last = 0;
    model.on("msg:custom", (content) => {
      waiting.get(content.id)?.(content);
      waiting.delete(content.id);
    });
    answeredBy((name, request) => new Promise((resolve, reject) => {
      const id = ++last;
      waiting.set(id, ({ answer, error }) => (error === undefined ? resolve(answer) : reject(new Error(error))));
      model.send({ id, name, request });
    }));
    return embed(el.appendChild(document.createElement("div")));
  },
};
