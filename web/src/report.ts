// The interactive part of a report: the network stands in the page, and the page answers.

import { embed } from "./embed";
import { answeredBy } from "./protocol";
import { Session } from "./report/session";

const session = new Session(JSON.parse(document.getElementById("credo-network")!.textContent));
const answer = async (name: string, request: object) => session.dispatch(name, request);
answeredBy(answer);
const host = document.getElementById("credo-ask")!;
embed(Object.assign(host, { answer })); // for those who would drive it by script
